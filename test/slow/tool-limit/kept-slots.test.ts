import type { WorkflowHandle } from '@temporalio/client'
import { describe, expect, it } from 'vitest'
import { activityNames } from '../../../src/common/names.js'
import { expectReplays } from '../../support/environment/histories.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { scheduledCount } from '../../support/environment/waits.js'
import { limitedTool } from '../../support/limited-tool.js'

const loop = (count: number, name = 'work') => `
total = 0
for _ in range(${count}):
    total += await ${name}(id=1)
print(total)`

const gather = (count: number) =>
  `import asyncio\nprint(sum(await asyncio.gather(*(work(id=1) for _ in range(${count})))))`

const requests = (handle: WorkflowHandle) => scheduledCount(handle, activityNames.requestSlot)
const output = async (handle: WorkflowHandle) => {
  const { outcome } = (await handle.result()) as { readonly outcome: object }
  return 'output' in outcome ? outcome.output : outcome
}

describe('a slot that a run keeps', () => {
  it.each([
    ['a loop', loop(30)],
    ['calls at once', gather(30)],
  ])('serves all calls of %s when no other run waits', async (_, source) => {
    const work = limitedTool('work', 1)
    const env = await TestEnvironment.start({ tools: [work.tool], backend: 'wasm' })
    const limiter = env.limiter('work')
    work.open()
    const handle = await env.startProgram(source)
    expect(await output(handle)).toBe('30\n')
    expect([work.calls, work.most, await requests(handle)]).toEqual([30, 1, 1])
    await env.expectCleanEnd(handle)
    await expectReplays(env.client, limiter)
  })

  it('goes to another run while its own run does something else, and comes back', async () => {
    const work = limitedTool('work', 1)
    const other = limitedTool('other', 5)
    const env = await TestEnvironment.start({ tools: [work.tool, other.tool], backend: 'wasm' })
    const limiter = env.limiter('work')
    env.limiter('other')
    work.open()
    const first = await env.startProgram(`${loop(3)}\nawait other(id=1)${loop(3)}`)
    await other.started(1)
    expect(work.calls).toBe(3)
    // The first run keeps the slot, and waits.
    const second = await env.startProgram(loop(3))
    expect(await output(second)).toBe('3\n')
    other.open()
    expect(await output(first)).toBe('3\n3\n')
    expect([work.most, await requests(second)]).toEqual([1, 1])
    // One request for each of its tools, and one after it had returned the slot.
    expect(await requests(first)).toBe(3)
    for (const handle of [first, second]) await env.expectCleanEnd(handle)
    await expectReplays(env.client, limiter)
  })

  it('is free again when its run was terminated between two calls', async () => {
    const work = limitedTool('work', 1)
    const other = limitedTool('other', 5)
    const env = await TestEnvironment.start({ tools: [work.tool, other.tool], backend: 'wasm' })
    env.limiter('work')
    env.limiter('other')
    work.open()
    const first = await env.startProgram(`${loop(1)}\nawait other(id=1)`)
    await other.started(1)
    await first.terminate('by the test')
    expect(await output(await env.startProgram(loop(2)))).toBe('2\n')
    expect(work.calls).toBe(3)
  })

  it('serves calls of runs in turns while several of them wait', async () => {
    const work = limitedTool('work', 2)
    const env = await TestEnvironment.start({ tools: [work.tool], backend: 'wasm' })
    const limiter = env.limiter('work')
    const handles = await Promise.all([gather(30), gather(30), loop(10)].map((source) => env.startProgram(source)))
    for (const handle of handles) await expect.poll(() => requests(handle)).toBeGreaterThan(0)
    work.open()
    expect(await Promise.all(handles.map(output))).toEqual(['30\n', '30\n', '10\n'])
    expect([work.calls, work.most]).toEqual([70, 2])
    const counts = await Promise.all(handles.slice(0, 2).map(requests))
    expect(Math.max(...counts)).toBeLessThan(30)
    for (const handle of handles) await env.expectCleanEnd(handle)
    await expectReplays(env.client, limiter)
  })

  it('survives the continue-as-new of its run', async () => {
    const work = limitedTool('work', 1)
    const env = await TestEnvironment.start({ tools: [work.tool], backend: 'wasm', limits: { historyEvents: 100 } })
    const limiter = env.limiter('work')
    work.open()
    const handle = await env.startProgram(loop(40))
    expect(await output(handle)).toBe('40\n')
    expect([work.calls, work.most]).toEqual([40, 1])
    const executions = (await env.executionHistories(handle)).length
    expect(executions).toBeGreaterThan(1)
    await env.expectCleanEnd(handle)
    await expectReplays(env.client, limiter)
  })
})
