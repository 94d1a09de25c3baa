import { rename } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { pollOptions } from '../../../support/poll-options.js'
import { tool } from '../../../support/tools.js'

it('a run whose value folder is missing reports that, and continues when the folder exists again', async () => {
  const env = await TestEnvironment.start({ tools: [tool('big', () => 'x'.repeat(10_000))] })
  await env.runProgram('print(len(await big()))')
  const folder = env.valuesDirectory
  await rename(folder, `${folder}-away`)
  const { workflowId } = await env.ptc.startProgram({ source: 'print(len(await big()))' })
  const run = env.ptc.handle(workflowId)
  try {
    await expect
      .poll(async () => (await run.tree()).unserved, pollOptions)
      .toMatchObject([{ failedAttempts: 0, reason: expect.stringMatching(/^the folder of values .* is gone$/) }])
  } finally {
    await rename(`${folder}-away`, folder)
  }
  expect(await run.result()).toMatchObject({ outcome: { status: 'ok', output: '10000\n' } })
  expect((await run.tree()).unserved).toEqual([])
})
