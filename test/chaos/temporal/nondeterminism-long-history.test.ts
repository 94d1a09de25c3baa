import { expect, it } from 'vitest'
import { pollOptions } from '../../support/poll-options.js'
import { workflowTaskAttempts, startNondeterministicRuns } from '../../support/temporal/nondeterministic-runs.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { tool } from '../../support/tools.js'

const healthy = 'print(await echo(value=7))'

it('F33: a history of tens of thousands of events that can not be replayed holds nobody up', async () => {
  const env = await TestEnvironment.start({ tools: [tool('echo', ({ value }) => value)] })
  const [poison] = await startNondeterministicRuns(env, [45_000])
  if (!poison) throw new Error('there is no poison')
  await expect.poll(() => workflowTaskAttempts(poison), pollOptions).toBeGreaterThan(1)
  const results = await Promise.all(Array.from({ length: 4 }, () => env.runProgram(healthy)))
  for (const { outcome } of results) expect(outcome).toMatchObject({ status: 'ok', output: '7\n' })
  expect((await poison.describe()).historyLength).toBeGreaterThan(45_000)
  await poison.terminate()
}, 600_000)
