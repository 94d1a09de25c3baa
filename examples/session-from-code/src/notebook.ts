/** A notebook for one quarter: each command is a process of its own, and the session keeps the variables. */
import { Client, Connection } from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import { createPtcClient, PtcError } from 'durable-ptc/client'
import { taskQueue } from './task-queue.js'

const cells: Readonly<Record<string, string>> = {
  load: 'sales = {shop: await sales_of(shop=shop) for shop in input_data}\nprint(len(sales), "shops are loaded")',
  report: 'for shop, months in sales.items():\n    print(shop, sum(months))',
}

const { connectionOptions, namespace = 'default' } = loadClientConnectConfig()
const connection = await Connection.connect(connectionOptions)
try {
  const ptc = createPtcClient({ client: new Client({ connection, namespace }), taskQueue })
  const [command = 'load', session = 'first-quarter'] = process.argv.slice(2)
  const source = cells[command]
  if (source === undefined) {
    const ended = await ptc.sessions.close(session)
    console.log(`closed after ${ended.cells} executions`)
  } else {
    // Only `load` may start the session: a report on a session without variables makes no sense.
    const options = command === 'load' ? { input: ['berlin', 'lyon', 'porto'] } : { mustExist: true }
    const { outcome } = await ptc.sessions.execute(session, source, options)
    process.stdout.write(outcome.output)
    if (outcome.status !== 'ok') throw new Error(outcome.error)
  }
} catch (error) {
  if (!PtcError.isInstance(error)) throw error
  console.error(`${error.code}: ${error.message}`)
  process.exitCode = 1
} finally {
  await connection.close()
}
