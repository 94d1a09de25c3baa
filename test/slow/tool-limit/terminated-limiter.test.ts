import { expect, it } from 'vitest'
import { activityNames } from '../../../src/common/names.js'
import { expectReplays, startedTimers } from '../../support/environment/histories.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { scheduledCount, waitForNoPendingActivity } from '../../support/environment/waits.js'
import { limitedTool } from '../../support/limited-tool.js'

const gather = (count: number) =>
  `import asyncio\nprint(sum(await asyncio.gather(*(work(id=1) for _ in range(${count})))))`

it('a run whose limiter was terminated asks again 5 minutes after its first request, and makes its calls', async () => {
  const work = limitedTool('work', 2)
  const env = await TestEnvironment.start({ tools: [work.tool], backend: 'wasm' })
  const limiter = env.limiter('work')
  const first = await env.startProgram(gather(2))
  await work.started(2)
  const second = await env.startProgram(gather(4))
  const requests = () => scheduledCount(second, activityNames.requestSlot)
  await expect.poll(requests).toBe(2)
  await waitForNoPendingActivity(second, activityNames.requestSlot)
  await limiter.terminate('by the test')
  work.open()
  expect(await first.result()).toMatchObject({ outcome: { status: 'ok', output: '2\n' } })
  await env.expectCleanEnd(first)
  expect([work.calls, await requests()]).toEqual([2, 2])

  expect(await second.result()).toMatchObject({ outcome: { status: 'ok', output: '4\n' } })
  expect([work.calls, work.most]).toEqual([6, 2])
  // Two requests were repeated. The calls behind them use the same slots.
  expect(await requests()).toBe(4)
  const [timer] = startedTimers(await env.history(second)).filter(({ summary }) => summary === 'ask for slots again')
  expect(timer).toMatchObject({ seconds: 300, hasFired: true })
  await env.expectCleanEnd(second)
  await expectReplays(env.client, limiter)
})
