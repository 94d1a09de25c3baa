import type { WorkflowHandle } from '@temporalio/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { renderTree } from '../../../../src/cli/rendering/tree/render-tree.js'
import { queryRun } from '../../../../src/client/temporal/query-run.js'
import { activityNames } from '../../../../src/common/names.js'
import { expectReplays, scheduledActivitiesOfType } from '../../../support/environment/histories.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { answerResult, call, turn } from '../../../support/script.js'
import { limitedTool } from '../../../support/limited-tool.js'

const three = limitedTool('three', 3)
const single = limitedTool('single', 1)
const yielded = limitedTool('yielded', 1)
const direct = limitedTool('direct', 1)
let env: TestEnvironment
let end: (() => Promise<void>) | undefined

beforeAll(async () => {
  env = await TestEnvironment.start({
    tools: [three.tool, single.tool, yielded.tool, direct.tool],
    initialWorkers: [{}, {}],
    script: [turn(call('direct', { id: 1 }), call('direct', { id: 2 })), answerResult],
    onCleanup: (cleanup) => (end = cleanup),
  })
})
afterAll(() => end?.())

const gather = (count: number, name: string) =>
  `import asyncio\nprint(sorted(await asyncio.gather(*(${name}(id=id) for id in range(${count})))))`

const rendered = async ({ workflowId }: WorkflowHandle) =>
  renderTree(await env.ptc.handle(workflowId).tree(), { width: 100, color: false })

/** Number of requests for a slot that the limiter has. */
async function requests(handle: WorkflowHandle): Promise<number> {
  const { events } = await env.history(handle)
  const ids = scheduledActivitiesOfType({ events }, activityNames.requestSlot).map(({ eventId }) => eventId)
  return events.filter(({ activityTaskCompletedEventAttributes: completed }) =>
    ids.includes(String(completed?.scheduledEventId)),
  ).length
}

async function currentDetails({ workflowId }: WorkflowHandle): Promise<string> {
  const metadata = await queryRun<{ readonly currentDetails: string }>(
    env.client,
    { workflowId },
    '__temporal_workflow_metadata',
  )
  return metadata?.currentDetails ?? ''
}

it('twelve calls of three runs on two workers are at most three at a time, and all are made', async () => {
  const limiter = env.limiter('three')
  const handles = await Promise.all([1, 2, 3].map(() => env.startProgram(gather(4, 'three'))))
  await three.started(3)
  for (const handle of handles) await expect.poll(() => requests(handle)).toBe(3)
  expect(three.running).toBe(3)
  await expect.poll(() => currentDetails(limiter)).toBe('3 of 3 slots in use, 6 calls waiting')
  const all = await Promise.all(handles.map((handle) => rendered(handle)))
  expect(all.join('\n').match(/waits for a slot of three/g)).toHaveLength(9)
  const details = await Promise.all(handles.map((handle) => currentDetails(handle)))
  expect(details.join('\n').match(/waits for a slot of three since/g)).toHaveLength(9)

  three.open()
  for (const handle of handles) {
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: '[0, 1, 2, 3]\n' } })
    await env.expectCleanEnd(handle)
  }
  expect(three.calls).toBe(12)
  expect(three.most).toBe(3)
  await expect.poll(() => currentDetails(limiter)).toBe('0 of 3 slots in use, 0 calls waiting')
  await expectReplays(env.client, limiter)
})

it('a terminated run returns its slot of a limited tool', async () => {
  env.limiter('single')
  const first = await env.startProgram(gather(1, 'single'))
  await single.started(1)
  const second = await env.startProgram(gather(1, 'single'))
  await expect.poll(() => requests(second)).toBe(1)
  await first.terminate('by the test')
  await single.started(2)
  single.open()
  expect(await second.result()).toMatchObject({ outcome: { status: 'ok' } })
})

it('a call that is cancelled while it waits leaves the queue, and no slot is lost', async () => {
  const limiter = env.limiter('yielded')
  const first = await env.startProgram(gather(1, 'yielded'))
  await yielded.started(1)
  const second = await env.startProgram(gather(1, 'yielded'))
  const third = await env.startProgram(gather(1, 'yielded'))
  await expect.poll(() => requests(second)).toBe(1)
  await expect.poll(() => requests(third)).toBe(1)
  await second.cancel()
  await expect(second.result()).rejects.toThrow()
  expect(yielded.calls).toBe(1)
  yielded.open()
  for (const handle of [first, third]) await handle.result()
  await expect.poll(() => currentDetails(limiter)).toBe('0 of 1 slot in use, 0 calls waiting')
  expect([yielded.calls, yielded.most]).toEqual([2, 1])
})

it("a tool's concurrency limit applies to direct calls of a model", async () => {
  env.limiter('direct')
  const handle = await env.startAgent()
  await direct.started(1)
  expect(await rendered(handle)).toContain('waits for a slot of direct')
  direct.open()
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered' })
  expect([direct.calls, direct.most]).toEqual([2, 1])
  await env.expectCleanEnd(handle)
})
