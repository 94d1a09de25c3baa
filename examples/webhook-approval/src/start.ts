/**
 * Plays the shop: sends a signed webhook that starts a run, and once more, as senders do. Prints the result of the run.
 */
import { randomUUID } from 'node:crypto'
import { Client, Connection } from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import { createPtcClient } from 'durable-ptc/client'
import { runIdOf } from './payments.js'
import { sign } from './signature.js'
import { taskQueue } from './task-queue.js'

const webhookUrl = process.env['WEBHOOK_URL'] ?? 'http://127.0.0.1:8090'
const delivery = process.argv[2] ?? randomUUID()
const body = Buffer.from(JSON.stringify({ delivery, invoices: { 'INV-7': 120, 'INV-8': 4800 } }))

async function deliver(): Promise<void> {
  const url = new URL('/payments', webhookUrl)
  const { status } = await fetch(url, { method: 'POST', body, headers: { 'x-signature': sign(body) } })
  if (status !== 202) throw new Error(`the webhook answered with status ${status}`)
}

await deliver()
await deliver()

const { connectionOptions, namespace = 'default' } = loadClientConnectConfig()
const connection = await Connection.connect(connectionOptions)
try {
  const ptc = createPtcClient({ client: new Client({ connection, namespace }), taskQueue })
  const result = await ptc.handle(runIdOf(delivery)).result()
  if ('outcome' in result) process.stdout.write(result.outcome.output)
} finally {
  await connection.close()
}
