import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { renderTree } from '../../../src/cli/rendering/tree/render-tree.js'
import { workflowTaskAttempts, startNondeterministicRuns } from '../../support/temporal/nondeterministic-runs.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { tool } from '../../support/tools.js'

const healthy = 'print(await echo(value=7))'

it('F33: nondeterministic runs do not block other runs, are retried with back-off, and report the error', async () => {
  const env = await TestEnvironment.start({ tools: [tool('echo', ({ value }) => value)] })
  const nondeterministic = await startNondeterministicRuns(env, [0, 0, 0])
  for (const handle of nondeterministic) await expect.poll(() => workflowTaskAttempts(handle)).toBeGreaterThan(1)

  // Other runs continue between failed attempts.
  const results = await Promise.all(Array.from({ length: 6 }, () => env.runProgram(healthy)))
  for (const { outcome } of results) expect(outcome).toMatchObject({ status: 'ok', output: '7\n' })

  // The error is visible in the server's UI and in the output of `ptc show`.
  const [first] = nondeterministic
  if (!first) throw new Error('no run was started')
  expect((await first.describe()).status.name).toBe('RUNNING')
  const tree = await env.ptc.handle(first.workflowId).tree()
  expect(tree).toMatchObject({
    status: 'running',
    failure: { code: 'WORKFLOW_TASK_FAILED', message: expect.stringMatching(/[Nn]on-?determinism/) },
  })
  expect(renderTree(tree, { width: 120, color: false })).toMatch(/workflow task keeps failing[^]*ondeterminism/)

  // No hot loop: a run that always fails costs some attempts, not thousands.
  const before = await workflowTaskAttempts(first)
  await delay(10_000)
  expect((await workflowTaskAttempts(first)) - before).toBeLessThan(10)

  // The runs can be terminated.
  for (const handle of nondeterministic) await handle.terminate()
})
