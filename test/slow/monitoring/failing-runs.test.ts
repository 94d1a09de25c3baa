import { expect, it } from 'vitest'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import { freeAddress } from '../../support/monitoring/free-address.js'
import { scrape, total } from '../../support/monitoring/scrape.js'
import { noModel } from '../../support/script.js'
import { startNondeterministicRuns } from '../../support/temporal/nondeterministic-runs.js'

it('a worker reports the runs whose workflow task has failed five times in a row, while they are open', async () => {
  const address = await freeAddress()
  const environment = { PTC_METRICS_ADDRESS: address }
  const { env } = await startWithLedger(noModel, { initialWorkers: [], environment, backend: 'wasm' })
  const runs = await startNondeterministicRuns(env, [0, 0])
  const failing = async () => total(await scrape(address), 'ptc_runs_failing', { task_queue: env.taskQueue })
  expect(await failing()).toBe(0)
  await expect.poll(failing).toBe(2)
  for (const run of runs) await run.terminate()
  await expect.poll(failing).toBe(0)
})
