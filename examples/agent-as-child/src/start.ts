import { Client, Connection, WorkflowFailedError } from '@temporalio/client'
import { CancelledFailure } from '@temporalio/common'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import { customerKey, taskQueue, type Ticket } from './ticket.js'
import type { handleTicket } from './workflows.js'

const [text = 'My order A-18 never arrived.', id = `ticket-${Date.now()}`] = process.argv.slice(2)
const ticket: Ticket = { id, customer: 'ada', text }

const { connectionOptions, namespace = 'default' } = loadClientConnectConfig()
const connection = await Connection.connect(connectionOptions)
const client = new Client({ connection, namespace })
const handle = await client.workflow.start<typeof handleTicket>('handleTicket', {
  taskQueue,
  workflowId: ticket.id,
  args: [ticket],
  typedSearchAttributes: [{ key: customerKey, value: ticket.customer }],
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void handle.cancel())
try {
  console.log(`${ticket.id}: ${await handle.result()}`)
} catch (error) {
  if (!(error instanceof WorkflowFailedError && error.cause instanceof CancelledFailure)) throw error
  console.log(`${ticket.id}: cancelled, with its agent`)
} finally {
  await connection.close()
}
