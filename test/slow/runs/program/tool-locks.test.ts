import type { WorkflowHandle } from '@temporalio/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { renderTree } from '../../../../src/cli/rendering/tree/render-tree.js'
import { activityNames } from '../../../../src/common/names.js'
import { expectReplays } from '../../../support/environment/histories.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { scheduledCount } from '../../../support/environment/waits.js'
import { answerResult, call, turn } from '../../../support/script.js'
import { limitedTool } from '../../../support/limited-tool.js'
import { tool } from '../../../support/tools.js'

const byId = (input: Readonly<Record<string, unknown>>) => (typeof input['id'] === 'string' ? input['id'] : undefined)
const files = { name: 'files', key: byId } as const

const write = limitedTool('write', { lockBy: byId })
const edit = limitedTool('edit', { lockBy: files })
const remove = limitedTool('remove', { lockBy: files })
const single = limitedTool('single', { lockBy: byId })
const direct = limitedTool('direct', { lockBy: byId, approval: 'always' })
const broken = tool('broken', () => 'ran', {
  lockBy: () => {
    throw new Error('no path')
  },
})
let env: TestEnvironment
let end: (() => Promise<void>) | undefined

beforeAll(async () => {
  env = await TestEnvironment.start({
    tools: [write.tool, edit.tool, remove.tool, single.tool, direct.tool, broken],
    initialWorkers: [{}, {}],
    script: [turn(call('direct', { id: 'a' }), call('direct', { id: 'b' })), answerResult],
    onCleanup: (cleanup) => (end = cleanup),
  })
})
afterAll(() => end?.())

const gather = (...calls: readonly string[]) => `import asyncio\nprint(await asyncio.gather(${calls.join(', ')}))`

const rendered = async ({ workflowId }: WorkflowHandle) =>
  renderTree(await env.ptc.handle(workflowId).tree(), { width: 100, color: false })

it('calls of three runs on two workers with the same lock run one by one, and calls with others at once', async () => {
  const limiter = env.limiter('write')
  const handles = await Promise.all(
    [1, 2, 3].map((run) => env.startProgram(gather('write(id="same")', 'write(id="same")', `write(id="own-${run}")`))),
  )
  await write.started(4)
  expect(write.running).toBe(4)
  for (const handle of handles) await expect.poll(() => scheduledCount(handle, activityNames.requestSlot)).toBe(3)
  await expect
    .poll(async () => (await Promise.all(handles.map(rendered))).join('\n').match(/waits for a lock of write/g)?.length)
    .toBe(5)
  write.open()
  for (const handle of handles) {
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok' } })
    await env.expectCleanEnd(handle)
    await expectReplays(env.client, handle)
  }
  expect([write.calls, write.most]).toEqual([9, 4])
  await expectReplays(env.client, limiter)
})

it('calls of two tools that share their locks exclude each other', async () => {
  const first = await env.startProgram(gather('edit(id="a")', 'edit(id="b")'))
  await edit.started(2)
  const second = await env.startProgram(gather('remove(id="a")'))
  await expect.poll(() => rendered(second)).toContain('waits for a lock of remove')
  expect(remove.calls).toBe(0)
  remove.open()
  edit.open()
  for (const handle of [first, second]) expect(await handle.result()).toMatchObject({ outcome: { status: 'ok' } })
  expect([edit.calls, remove.calls]).toEqual([2, 1])
})

it('a run that is terminated, and one that is cancelled while its call waits, leave no lock behind', async () => {
  env.limiter('single')
  const first = await env.startProgram(gather('single(id="a")'))
  await single.started(1)
  const second = await env.startProgram(gather('single(id="a")'))
  await expect.poll(() => rendered(second)).toContain('waits for a lock of single')
  await second.cancel()
  await expect(second.result()).rejects.toThrow()
  expect(single.calls).toBe(1)
  const third = await env.startProgram(gather('single(id="a")'))
  await expect.poll(() => rendered(third)).toContain('waits for a lock of single')
  await first.terminate('by the test')
  await single.started(2)
  single.open()
  expect(await third.result()).toMatchObject({ outcome: { status: 'ok' } })
  expect(single.calls).toBe(2)
})

it('the lock of a call is that of the arguments with which a person has approved it', async () => {
  env.limiter('direct')
  const handle = await env.startAgent()
  const waits = () => env.ptc.waits({ run: handle.workflowId })
  await expect.poll(async () => (await waits()).length).toBe(2)
  for (const { wait } of await waits())
    if ('token' in wait) await env.ptc.approveCall(wait.token, { arguments: { id: 'c' } })
  await direct.started(1)
  await expect.poll(() => scheduledCount(handle, activityNames.requestSlot)).toBe(2)
  await expect.poll(() => rendered(handle), { timeout: 20_000 }).toContain('waits for a lock of direct')
  expect(direct.running).toBe(1)
  direct.open()
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered' })
  expect([direct.calls, direct.most]).toEqual([2, 1])
})

it('a call whose lock is unknown is refused, and does not run', async () => {
  const { outcome } = await env.runProgram(`
try: await broken(id="a")
except ToolDenied as error: print(error)`)
  expect(outcome).toMatchObject({ output: 'the lock of broken is unknown: lockBy threw no path\n' })
})

it('calls keep their locks and their places when their run continues as new', async () => {
  const append = limitedTool('append', { lockBy: byId })
  const own = await TestEnvironment.start({ tools: [append.tool], limits: { historyEvents: 100 } })
  const limiter = own.limiter('append')
  const handle = await own.startProgram(
    'import asyncio\nprint(len(await asyncio.gather(*(append(id="ab"[n % 2]) for n in range(30)))))',
  )
  await append.started(2)
  append.open()
  expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: '30\n' }, toolCalls: 30 })
  expect([append.calls, append.most]).toEqual([30, 2])
  expect((await own.executionHistories(handle)).length).toBeGreaterThan(1)
  await own.expectCleanEnd(handle)
  await expectReplays(own.client, limiter)
})
