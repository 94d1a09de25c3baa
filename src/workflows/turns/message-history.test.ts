import { expect, it } from 'vitest'
import type { ModelTurnResult } from '../../common/agent/model-turn.js'
import { zeroUsage } from '../../common/run/runs.js'
import { externalValue } from '../../common/json/external-value.js'
import { MessageHistory } from './message-history.js'

const log = (name: string) => ({ head: { sha256: name, bytes: 1, preview: '' }, segments: 1, length: 2 })
const turn = (name: string, usage = { ...zeroUsage, inputTokens: 1_000, outputTokens: 50 }): ModelTurnResult => ({
  reply: { model: 'm', content: [], stopReason: 'tool_use', usage, costUsd: 0, requestId: null },
  history: log(name),
  conversationBytes: 7_000,
  calls: {},
})

it('the tokens of the next request are those that the provider counted, and an estimate for new blocks', () => {
  const messages = new MessageHistory(100)
  messages.addMessage({ text: 'x'.repeat(350) })
  expect(messages.nextTurnTokens).toBeNull()
  messages.recordReply(turn('a'))
  messages.commitTurn(turn('a'))
  expect(messages.nextTurnTokens).toBe(1_050)
  const part = externalValue({ sha256: 'b', bytes: 900_000, preview: '' })
  const base = { type: 'tool_result', tool_use_id: 'a' } as const
  messages.addToolResults([
    { ...base, externalContent: { parts: [part], limit: 20_000, suffix: 'x'.repeat(1_000) } },
    { ...base, content: 'x'.repeat(14_000) },
  ])
  expect(messages.nextTurnTokens).toBe(1_050 + 10_000)
  // This provider reports no tokens.
  messages.recordReply(turn('b', zeroUsage))
  expect(messages.state.lastTurnTokens).toBe(2_000)
})

it('a message is taken back with the messages compacted meanwhile, but not after a turn', () => {
  const messages = new MessageHistory(100)
  messages.commitTurn(turn('a'))
  const before = messages.state
  messages.addMessage({ text: 'hello' })
  messages.compact(log('compacted'), 500, 600, true)
  expect(messages.nextTurnTokens).toBe(500)
  expect(messages.restore(before)).toBe(true)
  expect(messages.state).toMatchObject({ history: log('compacted'), pending: [], compaction: { isForced: false } })
  messages.addMessage({ text: 'hello' })
  messages.commitTurn(turn('b'))
  expect(messages.restore(before)).toBe(false)
  expect(messages.state.history).toEqual(log('b'))
})
