import { describe, expect, it } from 'vitest'
import { activityNames, toolLimitWorkflow } from '../../../src/common/names.js'
import { maxWaitingForSlot, type ToolLimitState } from '../../../src/common/calls/tool-slots.js'
import { expectReplays } from '../../support/environment/histories.js'
import { resetToCall } from '../../support/environment/reset.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { scheduledCount } from '../../support/environment/waits.js'
import { limitedTool } from '../../support/limited-tool.js'
import { inMode } from '../../support/mode.js'

const gather = (count: number) =>
  `import asyncio\nprint(sum(await asyncio.gather(*(work(id=1) for _ in range(${count})))))`

describe('a tool with a concurrency limit', () => {
  // A workflow task that replays the whole history takes longer with more calls.
  const callsOfRun = inMode('always-replay') ? 40 : 100

  it("a concurrency limit works for hundreds of calls of three runs over its limiter's continue-as-new", async () => {
    // A run keeps no slot of a tool with locks, so every call requests one.
    const work = limitedTool('work', { concurrency: 4, lockBy: () => undefined })
    const env = await TestEnvironment.start({ tools: [work.tool], initialWorkers: [{}, {}] })
    const limiter = env.limiter('work')
    const handles = await Promise.all([1, 2, 3].map(() => env.startProgram(gather(callsOfRun))))
    await work.started(4)
    work.open()
    for (const handle of handles) {
      expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: `${callsOfRun}\n` } })
      await env.expectCleanEnd(handle)
    }
    expect(work.calls).toBe(3 * callsOfRun)
    expect(work.most).toBe(4)
    if (!inMode('always-replay')) expect((await env.executionHistories(limiter)).length).toBeGreaterThan(1)
    await expectReplays(env.client, limiter)
  })

  it('a concurrency limit keeps the waiting calls of a run that continues as new', async () => {
    const work = limitedTool('work', 2)
    const env = await TestEnvironment.start({ tools: [work.tool], limits: { historyEvents: 100 } })
    const limiter = env.limiter('work')
    const handle = await env.startProgram(gather(60))
    await work.started(2)
    work.open()
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: '60\n' }, toolCalls: 60 })
    expect(work.calls).toBe(60)
    expect(work.most).toBe(2)
    const chain = await env.executionHistories(handle)
    expect(chain.length).toBeGreaterThan(2)
    // The server refuses commands after the one that continues as new, and the workflow task times out after its start.
    const timeouts = chain
      .flatMap(({ events }) => events ?? [])
      .filter((event) => Number(event.workflowTaskTimedOutEventAttributes?.startedEventId ?? 0) > 0)
    expect(timeouts).toEqual([])
    await env.expectCleanEnd(handle)
    await expectReplays(env.client, limiter)
  })

  it('a concurrency limit gives the slot of a call to the same call after a reset', async () => {
    const work = limitedTool('work', 1)
    const env = await TestEnvironment.start({ tools: [work.tool] })
    env.limiter('work')
    const handle = await env.startProgram(gather(1))
    await work.started(1)
    await resetToCall(env, handle, activityNames.requestSlot)
    await work.started(2)
    work.open()
    const reset = env.client.workflow.getHandle(handle.workflowId)
    expect(await reset.result()).toMatchObject({ outcome: { status: 'ok', output: '1\n' } })
  })

  it('a concurrency limit refuses a call when 10,000 others wait', async () => {
    const work = limitedTool('work', 1)
    const env = await TestEnvironment.start({ tools: [work.tool] })
    const limiter = env.limiter('work')
    const later = Date.now() + 600_000
    const other = { workflowId: 'w'.repeat(40), maxHoldMs: 1_000 }
    const holder = { key: 'holder', until: later, checkAt: later, checkIntervalMs: 1_000, isDelivered: true }
    const state: ToolLimitState = {
      slots: 1,
      holders: [{ ...holder, workflowId: other.workflowId }],
      waiting: Array.from({ length: maxWaitingForSlot }, (_, number) => ({ ...other, key: `key-${number}` })),
    }
    const { taskQueue } = env
    const { workflowId } = limiter
    await env.client.workflow.start(toolLimitWorkflow, { workflowId, taskQueue, args: [{ tool: 'work', state }] })
    const { outcome } = await env.runProgram(`
try: await work(id=1)
except ToolDenied as error: print(error)`)
    expect(outcome).toMatchObject({ output: 'work has no slot free: too many calls wait for one\n' })
    expect(work.calls).toBe(0)
    expect(await scheduledCount(env.lastRun, activityNames.requestSlot)).toBe(1)
  })
})
