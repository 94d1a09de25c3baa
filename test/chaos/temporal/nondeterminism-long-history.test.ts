import { expect, it } from 'vitest'
import { workflowTaskAttempts, startNondeterministicRuns } from '../../support/temporal/nondeterministic-runs.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { tool } from '../../support/tools.js'

const healthy = 'print(await echo(value=7))'

it('F33: a nondeterministic history of tens of thousands of events does not block other runs', async () => {
  const env = await TestEnvironment.start({ tools: [tool('echo', ({ value }) => value)] })
  const [nondeterministic] = await startNondeterministicRuns(env, [45_000])
  if (!nondeterministic) throw new Error('no run was started')
  await expect.poll(() => workflowTaskAttempts(nondeterministic)).toBeGreaterThan(1)
  const results = await Promise.all(Array.from({ length: 4 }, () => env.runProgram(healthy)))
  for (const { outcome } of results) expect(outcome).toMatchObject({ status: 'ok', output: '7\n' })
  expect((await nondeterministic.describe()).historyLength).toBeGreaterThan(45_000)
  await nondeterministic.terminate()
}, 600_000)
