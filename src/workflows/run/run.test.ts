import { beforeEach, afterEach, expect, it, vi } from 'vitest'
import { startFakeWorkflow } from '../../../test/support/workflow/fake-workflow.js'
import { testRun } from '../../../test/support/workflow/test-run.js'
import { zeroCounts, zeroUsage } from '../../common/run/runs.js'

vi.mock('@temporalio/workflow', async (importOriginal) => {
  const { fakeWorkflowModule } = await import('../../../test/support/workflow/fake-workflow.js')
  return { ...(await importOriginal<object>()), ...fakeWorkflowModule }
})

beforeEach(() => startFakeWorkflow())
afterEach(() => void vi.useRealTimers())

it('the calls of earlier messages do not count towards the limit of a run, also in its next execution', () => {
  const run = testRun({ limits: { callsPerRun: 3 } })
  run.count({ toolCalls: 2 })
  expect(run.callsLeft).toBe(1)
  run.limitCallsAfter(run.counts.toolCalls)
  run.count({ toolCalls: 1 })
  expect(run.callsLeft).toBe(2)
  const next = testRun({ limits: { callsPerRun: 3 }, counts: run.counts })
  next.limitCallsAfter(2)
  expect(next.callsLeft).toBe(2)
})

it('a run counts turns, cells, replies and stored bytes, and its cost is unknown after a reply without a price', () => {
  const run = testRun({ limits: { storedBytes: 10 } })
  run.count({ turns: 1, cells: 2 })
  run.countReply({ usage: { ...zeroUsage, inputTokens: 3 }, costUsd: 0.5 })
  expect(run.counts).toEqual({
    ...zeroCounts,
    turns: 1,
    cells: 2,
    usage: { ...zeroUsage, inputTokens: 3 },
    costUsd: 0.5,
  })
  run.countReply({ usage: zeroUsage, costUsd: null })
  run.countReply({ usage: zeroUsage, costUsd: 1 })
  expect(run.counts.costUsd).toBeNull()
  run.addStoredBytes(9)
  expect(run.isStorageExhausted).toBe(false)
  run.addStoredBytes(1)
  expect(run.isStorageExhausted).toBe(true)
})
