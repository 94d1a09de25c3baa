import { describe, expect, it } from 'vitest'
import { type AssistantBlock, type ModelReply, type StopReason } from '../../common/messages.js'
import { zeroUsage } from '../../common/runs.js'
import { interpretReply } from './interpret-reply.js'

const text: AssistantBlock = { type: 'text', text: 'said' }
const use: AssistantBlock = { type: 'tool_use', id: 'a', name: 'ping', input: {} }
const thinking: AssistantBlock = { type: 'thinking', thinking: 'hm' }

function decision(stopReason: StopReason, ...content: readonly AssistantBlock[]) {
  const reply: ModelReply = { model: 'm', content, stopReason, usage: zeroUsage, costUsd: null, requestId: null }
  return interpretReply(reply)
}

describe('decide', () => {
  it.each<[string, StopReason, readonly AssistantBlock[], object]>([
    ['text', 'end_turn', [text], { type: 'end', status: 'answered', answer: 'said' }],
    ['two texts', 'end_turn', [text, text], { type: 'end', status: 'answered', answer: 'said\n\nsaid' }],
    ['a stop sequence', 'stop_sequence', [text], { type: 'end', status: 'answered' }],
    ['calls', 'tool_use', [text, use, use], { type: 'execute_tools', uses: [use, use] }],
    ['calls with a reason of tomorrow', 'invented', [use], { type: 'execute_tools', uses: [use] }],
    ['calls, though it says it ended', 'end_turn', [use], { type: 'execute_tools', uses: [use] }],
    ['text with a reason of tomorrow', 'invented', [text], { type: 'end', status: 'answered' }],
    ['calls cut at the limit', 'max_tokens', [text, use], { type: 'truncated' }],
    ['a pause', 'pause_turn', [thinking], { type: 'continue' }],
    ['a pause with nothing', 'pause_turn', [], { type: 'prompt_again' }],
    ['a refusal with calls', 'refusal', [text, use], { type: 'end', status: 'refused', answer: 'said' }],
    ['a full window', 'model_context_window_exceeded', [text], { type: 'end', status: 'context_full', answer: 'said' }],
    ['nothing', 'end_turn', [], { type: 'prompt_again' }],
    ['blank text', 'end_turn', [{ type: 'text', text: ' \n' }], { type: 'prompt_again' }],
    ['only thinking', 'end_turn', [thinking], { type: 'prompt_again' }],
    ['tool_use without a call', 'tool_use', [], { type: 'prompt_again' }],
  ])('%s (%s)', (_what, stopReason, content, expected) => {
    expect(decision(stopReason, ...content)).toMatchObject(expected)
  })
})
