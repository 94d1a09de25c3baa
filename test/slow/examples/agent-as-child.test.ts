import { Client, Connection } from '@temporalio/client'
import { defineSearchAttributeKey } from '@temporalio/common'
import proto from '@temporalio/proto'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startScriptedMessagesApi } from '../../../src/testing/index.js'
import { ExampleProject, expectStops, outputOf } from '../../support/example-process.js'
import { call, code, turn } from '../../support/script.js'
import { sharedServer, uniqueName } from '../../support/temporal/shared-server.js'

const { IndexedValueType } = proto.temporal.api.enums.v1
const customer = defineSearchAttributeKey('Customer', 'KEYWORD')

const refund = { order: 'A-18', euros: 45 }
const answer = { reply: 'We are sorry, and refund it.', refund }
const lost = 'My order A-18 never arrived.'
const waits = 'Where is it?'

const script = {
  conversations: [
    {
      match: { firstUserText: lost },
      turns: [
        turn(code('print(await orders_of(customer=input_data["customer"]))')),
        turn(call('submit_answer', answer)),
      ],
    },
    {
      match: { firstUserText: waits },
      turns: [{ ...turn(call('submit_answer', answer)), faults: [{ type: 'delay', ms: 600_000, attempt: 'every' }] }],
    },
  ],
} as const

test('the example of an agent as a child acts on its typed answer, and passes search attributes and cancellation on', async () => {
  const api = await startScriptedMessagesApi({ script })
  onTestFinished(() => api.close())
  const { address, namespace } = sharedServer()
  const connection = await Connection.connect({ address })
  onTestFinished(() => connection.close())
  const client = new Client({ connection, namespace })
  // The tests share a server, which another run may have prepared.
  await connection.operatorService
    .addSearchAttributes({
      namespace,
      searchAttributes: { [customer.name]: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD },
    })
    .catch(() => undefined)
  const project = await ExampleProject.build('agent-as-child', {
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: 'test',
  })
  const worker = project.start('worker.js')

  const ticket = uniqueName('ticket')
  // The server knows a new search attribute after a while.
  const printed = await vi.waitFor(() => project.run('start.js', lost, ticket), { timeout: 60_000, interval: 200 })
  expect(printed).toBe(`${ticket}: answered, refunded 45 EUR for A-18\n`)
  const child = await client.workflow.getHandle(`${ticket}/triage`).describe()
  expect(child.parentExecution?.workflowId).toBe(ticket)
  expect(child.typedSearchAttributes.get(customer)).toBe('ada')

  const cancelled = uniqueName('ticket')
  const start = project.start('start.js', { args: [waits, cancelled] })
  const output = outputOf(start)
  await api.waitForRequest(({ body }) => JSON.stringify(body).includes(waits))
  await expectStops(start)
  expect(await output).toBe(`${cancelled}: cancelled, with its agent\n`)
  expect((await client.workflow.getHandle(`${cancelled}/triage`).describe()).status.name).toBe('CANCELLED')
  await expectStops(worker)
})
