import type { WorkflowHandle } from '@temporalio/client'
import { expect, it } from 'vitest'
import { renderTree } from '../../../../src/cli/rendering/index.js'
import { queryRun } from '../../../../src/client/temporal/query-run.js'
import { activityNames } from '../../../../src/common/names.js'
import { expectReplays, scheduledActivitiesOfType } from '../../../support/environment/histories.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { answerResult, call, turn } from '../../../support/script.js'
import { limitedTool } from '../../../support/limited-tool.js'

const gather = (count: number, name = 'work') =>
  `import asyncio\nprint(sorted(await asyncio.gather(*(${name}(id=id) for id in range(${count})))))`

const rendered = async (env: TestEnvironment, { workflowId }: WorkflowHandle) =>
  renderTree(await env.ptc.handle(workflowId).tree(), { width: 100, color: false })

/** Requests for a slot that the limiter has. */
async function requests(env: TestEnvironment, handle: WorkflowHandle): Promise<number> {
  const { events } = await env.history(handle)
  const ids = scheduledActivitiesOfType({ events }, activityNames.requestSlot).map(({ eventId }) => eventId)
  return events.filter(({ activityTaskCompletedEventAttributes: completed }) =>
    ids.includes(String(completed?.scheduledEventId)),
  ).length
}

async function currentDetails(env: TestEnvironment, { workflowId }: WorkflowHandle): Promise<string> {
  const metadata = await queryRun<{ readonly currentDetails: string }>(
    env.client,
    { workflowId },
    '__temporal_workflow_metadata',
  )
  return metadata?.currentDetails ?? ''
}

it('twelve calls of three runs on two workers are at most three at a time, and all are made', async () => {
  const work = limitedTool('work', 3)
  const env = await TestEnvironment.start({ tools: [work.tool], initialWorkers: [{}, {}] })
  const limiter = env.limiter('work')
  const handles = await Promise.all([1, 2, 3].map(() => env.startProgram(gather(4))))
  await work.started(3)
  for (const handle of handles) await expect.poll(() => requests(env, handle)).toBe(3)
  expect(work.running).toBe(3)
  await expect.poll(() => currentDetails(env, limiter)).toBe('3 of 3 slots in use, 6 calls waiting')
  const all = await Promise.all(handles.map((handle) => rendered(env, handle)))
  expect(all.join('\n').match(/waits for a slot of work/g)).toHaveLength(9)
  const details = await Promise.all(handles.map((handle) => currentDetails(env, handle)))
  expect(details.join('\n').match(/waits for a slot of work since/g)).toHaveLength(9)

  work.open()
  for (const handle of handles) {
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: '[0, 1, 2, 3]\n' } })
    await env.expectCleanEnd(handle)
  }
  expect(work.calls).toBe(12)
  expect(work.most).toBe(3)
  await expect.poll(() => currentDetails(env, limiter)).toBe('0 of 3 slots in use, 0 calls waiting')
  await expectReplays(env.client, limiter)
})

it('the slot of a terminated run comes back', async () => {
  const work = limitedTool('work', 1)
  const env = await TestEnvironment.start({ tools: [work.tool] })
  env.limiter('work')
  const first = await env.startProgram(gather(1))
  await work.started(1)
  const second = await env.startProgram(gather(1))
  await expect.poll(() => requests(env, second)).toBe(1)
  await first.terminate('by the test')
  await work.started(2)
  work.open()
  expect(await second.result()).toMatchObject({ outcome: { status: 'ok' } })
})

it('a call that is cancelled while it waits gives up its place, and no slot is lost', async () => {
  const work = limitedTool('work', 1)
  const env = await TestEnvironment.start({ tools: [work.tool] })
  const limiter = env.limiter('work')
  const first = await env.startProgram(gather(1))
  await work.started(1)
  const second = await env.startProgram(`
import asyncio
try: await asyncio.wait_for(work(id=1), 0.5)
except asyncio.TimeoutError: print("gave up")
print(await work(id=2))`)
  const third = await env.startProgram(gather(1))
  const fourth = await env.startProgram(gather(1))
  await expect.poll(() => requests(env, third)).toBe(1)
  await expect.poll(() => requests(env, fourth)).toBe(1)
  await third.cancel()
  await expect(third.result()).rejects.toThrow()
  expect(work.calls).toBe(1)
  work.open()
  for (const handle of [first, second, fourth]) await handle.result()
  await expect.poll(() => currentDetails(env, limiter)).toBe('0 of 1 slot in use, 0 calls waiting')
  expect(work.most).toBe(1)
})

it('holds for direct calls of a model', async () => {
  const work = limitedTool('work', 1)
  const script = [turn(call('work', { id: 1 }), call('work', { id: 2 })), answerResult]
  const env = await TestEnvironment.start({ tools: [work.tool], script })
  env.limiter('work')
  const handle = await env.startAgent()
  await work.started(1)
  expect(await rendered(env, handle)).toContain('waits for a slot of work')
  work.open()
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered' })
  expect([work.calls, work.most]).toEqual([2, 1])
  await env.expectCleanEnd(handle)
})
