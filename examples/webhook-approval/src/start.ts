import { Client, Connection } from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import { createPtcClient } from 'durable-ptc/client'
import { taskQueue } from './task-queue.js'

/** A model would write such a program. */
const source = `
import asyncio
invoices = {"INV-7": 120, "INV-8": 4800}
decisions = await asyncio.gather(*(approve_payment(invoice=name, euros=euros) for name, euros in invoices.items()))
for name, decision in zip(invoices, decisions):
    print(name, "is approved" if decision["approved"] else "is rejected", "by", decision["by"])
`

const { connectionOptions, namespace = 'default' } = loadClientConnectConfig()
const connection = await Connection.connect(connectionOptions)
try {
  const ptc = createPtcClient({ client: new Client({ connection, namespace }), taskQueue })
  const run = await ptc.startProgram({ source })
  const { outcome } = await run.result()
  process.stdout.write(outcome.output)
} finally {
  await connection.close()
}
