// A workflow of sequential steps of 20 ms with DBOS Transact: `node dbos-driver.mjs FOLDER DATABASE_URL`. Runs it for
// each input line, and prints its milliseconds.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

const [folder, systemDatabaseUrl] = process.argv.slice(2)
const { DBOS } = createRequire(join(folder, 'package.json'))('@dbos-inc/dbos-sdk')

const calls = 20

const program = DBOS.registerWorkflow(
  async () => {
    for (let call = 0; call < calls; call += 1) await DBOS.runStep(() => pause(20), { name: 'work' })
  },
  { name: 'program' },
)

DBOS.setConfig({ name: 'bench', applicationVersion: '1', systemDatabaseUrl, logLevel: 'error' })
await DBOS.launch()

for await (const line of createInterface({ input: process.stdin })) {
  if (line !== 'run') throw new Error(`there is no command ${line}`)
  const start = performance.now()
  await program()
  console.log(performance.now() - start)
}
