import { ActivityFailure } from '@temporalio/workflow'
import { beforeEach, expect, it, vi } from 'vitest'
import type { RunConfig } from '../../common/run/run-config.js'
import type { CompactionInput, CompactionResult, ModelTurnResult } from '../../common/agent/model-turn.js'
import { zeroUsage } from '../../common/run/runs.js'
import { testRun } from '../../../test/support/workflow/test-run.js'
import type { Interruption } from '../temporal/interruption.js'
import { Compaction } from './compaction.js'
import { MessageHistory } from './message-history.js'

const activity = vi.hoisted(() => ({ inputs: [] as unknown[], run: (): unknown => undefined }))
vi.mock('../temporal/model-activities.js', () => ({
  compactMessages: async (input: unknown) => {
    activity.inputs.push(input)
    return activity.run()
  },
}))
vi.mock('../run/progress.js', async (original) => ({ ...(await original<object>()), showProgress: () => undefined }))
vi.mock('../run/search-attributes.js', () => ({}))

const log = (name: string) => ({ head: { sha256: name, bytes: 1, preview: '' }, segments: 1, length: 2 })
const usage = (inputTokens: number) => ({ ...zeroUsage, inputTokens })
const turn = (inputTokens: number): ModelTurnResult => ({
  reply: { model: 'm', content: [], stopReason: 'tool_use', usage: usage(inputTokens), costUsd: 0, requestId: null },
  history: log('before'),
  conversationBytes: 0,
  calls: {},
})

const compacted = (tokens: number, change: Partial<CompactionResult> = {}): CompactionResult => ({
  history: log('after'),
  tokens,
  shortened: 1,
  summarized: 0,
  ...change,
})

const interruption = {
  isRequested: false,
  runCancellable: (work: () => Promise<unknown>) => work(),
} as unknown as Interruption

/** A run after a turn with this number of tokens, in a window of 1,000. */
const recorded = {
  compaction: { threshold: 0.8 },
  timeouts: {},
  tools: [],
  toolSet: { digest: 'd' },
}

function runAfter(
  tokens: number,
  config: { [Key in keyof RunConfig]?: RunConfig[Key] | undefined } = {},
  contextWindow: number | undefined = 1_000,
) {
  const model = { provider: 'p', name: 'm', maxTokens: 10, ...(contextWindow > 0 && { contextWindow }) }
  const run = testRun({ kind: 'agent', config: { ...recorded, model, ...config } })
  const messages = new MessageHistory(10)
  messages.addMessage({ text: 'question' })
  messages.recordReply(turn(tokens))
  messages.commitTurn(turn(tokens))
  return { run, messages, compaction: new Compaction(run, messages, interruption) }
}

beforeEach(() => void activity.inputs.splice(0))

it('a compaction is due above the threshold, with the pending blocks, when the window is known', () => {
  expect(runAfter(800).compaction.isDue).toBe(false)
  expect(runAfter(801).compaction.isDue).toBe(true)
  const { messages, compaction } = runAfter(700)
  messages.addMessage({ text: 'x'.repeat(354) })
  expect(compaction.isDue).toBe(true)
  expect(runAfter(5_000, {}, 0).compaction.isDue).toBe(false)
})

it('a compaction is never due in a run that has recorded no threshold', async () => {
  const { compaction: old } = runAfter(5_000, { compaction: undefined })
  expect(old.isDue).toBe(false)
  expect(await old.force()).toBe(false)
  expect(activity.inputs).toEqual([])
})

it('a compaction adopts the messages, counts the summary, and is due again after they have grown', async () => {
  const { run, messages, compaction } = runAfter(900)
  const summary = { model: 'm', stopReason: 'end_turn', usage: usage(70), costUsd: 0.5, requestId: null }
  activity.run = () => compacted(790, { summary })
  await compaction.run()
  expect(activity.inputs).toMatchObject([
    {
      tokens: 900,
      targetTokens: 700,
      keptTokens: 350,
      turn: 1,
      counted: { next: { pending: [], tools: { digest: 'd' } }, dueTokens: 800 },
    },
  ])
  expect(messages.state).toMatchObject({ history: log('after'), lastTurnTokens: 790 })
  expect(run.counts).toMatchObject({ usage: { inputTokens: 70 }, costUsd: 0.5, turns: 0 })
  expect(run.progress.context).toEqual({ tokens: 790, window: 1_000 })
  // 790 tokens, and 5 % of the window.
  messages.recordReply(turn(840))
  expect(compaction.isDue).toBe(false)
  messages.recordReply(turn(841))
  expect(compaction.isDue).toBe(true)
})

it('a run continues with the unchanged messages when the compaction fails', async () => {
  const { messages, compaction } = runAfter(900)
  activity.run = () => {
    throw new ActivityFailure('failed', 'model.compact', '1', 'TIMEOUT', undefined)
  }
  await compaction.run()
  expect(messages.state).toMatchObject({ history: log('before'), lastTurnTokens: 900 })
  expect(compaction.isDue).toBe(false)
})

it('a compaction is forced once for a turn, also when the window is unknown', async () => {
  const { messages, compaction } = runAfter(900, {}, 0)
  activity.run = () => compacted(500)
  expect(await compaction.force()).toBe(true)
  expect(activity.inputs).toMatchObject([{ targetTokens: 675 }] satisfies Partial<CompactionInput>[])
  // Messages that the provider has refused are too large for every count.
  expect(activity.inputs[0]).not.toHaveProperty('counted')
  expect(await compaction.force()).toBe(false)
  messages.commitTurn(turn(900))
  activity.run = () => compacted(900, { shortened: 0, history: log('before') })
  expect(await compaction.force()).toBe(false)
  expect(activity.inputs).toHaveLength(2)
})
