import { describe, expect, it } from 'vitest'
import { type AssistantBlock, type ModelReply, type StopReason } from '../../common/agent/messages.js'
import type { SubmittedAnswer } from '../../common/agent/model-turn.js'
import { zeroUsage } from '../../common/run/runs.js'
import { interpretReply } from './interpret-reply.js'

const text: AssistantBlock = { type: 'text', text: 'done' }
const use: AssistantBlock = { type: 'tool_use', id: 'a', name: 'ping', input: {} }
const thinking: AssistantBlock = { type: 'thinking', thinking: 'hm' }

function actionFor(stopReason: StopReason, ...content: readonly AssistantBlock[]) {
  const reply: ModelReply = { model: 'm', content, stopReason, usage: zeroUsage, costUsd: null, requestId: null }
  return interpretReply(reply)
}

describe('interpretReply', () => {
  it.each<[string, StopReason, readonly AssistantBlock[], object]>([
    ['text', 'end_turn', [text], { type: 'end', status: 'answered', answer: 'done' }],
    ['two texts', 'end_turn', [text, text], { type: 'end', status: 'answered', answer: 'done\n\ndone' }],
    ['a stop sequence', 'stop_sequence', [text], { type: 'end', status: 'answered' }],
    ['calls', 'tool_use', [text, use, use], { type: 'execute_tools', uses: [use, use] }],
    ['calls with an unknown reason', 'invented', [use], { type: 'execute_tools', uses: [use] }],
    ['calls with the reason end_turn', 'end_turn', [use], { type: 'execute_tools', uses: [use] }],
    ['text with an unknown reason', 'invented', [text], { type: 'end', status: 'answered' }],
    ['calls truncated at the limit', 'max_tokens', [text, use], { type: 'truncated' }],
    ['a pause', 'pause_turn', [thinking], { type: 'continue' }],
    ['an empty pause', 'pause_turn', [], { type: 'prompt_again' }],
    ['a refusal with calls', 'refusal', [text, use], { type: 'end', status: 'refused', answer: 'done' }],
    ['a full window', 'model_context_window_exceeded', [text], { type: 'end', status: 'context_full', answer: 'done' }],
    ['an empty reply', 'end_turn', [], { type: 'prompt_again' }],
    ['blank text', 'end_turn', [{ type: 'text', text: ' \n' }], { type: 'prompt_again' }],
    ['only thinking', 'end_turn', [thinking], { type: 'prompt_again' }],
    ['tool_use without a call', 'tool_use', [], { type: 'prompt_again' }],
  ])('the action after a reply: %s (%s)', (_what, stopReason, content, expected) => {
    expect(actionFor(stopReason, ...content)).toMatchObject(expected)
  })

  it('turns end with the submission of a tool use', () => {
    const reply = {
      model: 'm',
      content: [text, use],
      stopReason: 'tool_use',
      usage: zeroUsage,
      costUsd: 0,
      requestId: null,
    }
    const submitting = (submitted: SubmittedAnswer) => interpretReply(reply, { mustSubmit: true, submitted })
    expect(submitting({ type: 'valid', output: { n: 1 } })).toMatchObject({ status: 'answered', answer: '{"n":1}' })
    expect(submitting({ type: 'gave_up', reason: 'no' })).toEqual({ type: 'end', status: 'gave_up', answer: 'no' })
    expect(submitting({ type: 'plan', steps: [] })).toEqual({ type: 'plan', steps: [], toolUseId: 'a' })
    expect(submitting({ type: 'invalid', problem: 'bad' })).toMatchObject({ type: 'execute_tools', problem: 'bad' })
  })
})

it('after a text that is the call of a tool, the model is asked for a real call', () => {
  const reply: ModelReply = {
    model: 'm',
    content: [text],
    stopReason: 'end_turn',
    usage: zeroUsage,
    costUsd: null,
    requestId: null,
  }
  for (const mustSubmit of [true, false])
    expect(interpretReply(reply, { mustSubmit, submitted: undefined, textCall: 'pay' })).toMatchObject({
      type: 'ask_for_call',
      prompt: expect.stringContaining('a call of pay as text') as string,
      failure: expect.stringContaining('no parser for the tool calls') as string,
    })
  expect(
    interpretReply({ ...reply, stopReason: 'max_tokens' }, { mustSubmit: false, submitted: undefined, textCall: 'pay' })
      .type,
  ).toBe('truncated')
})

it('a plain run ends with calls for its client, with any text, and at the limit of tokens', () => {
  const call = { index: 1, tool: 'ping', arguments: {}, summary: 'ping', digest: 'd', refused: null }
  const refused = { ...call, refused: { status: 'invalid_arguments', message: 'no' } as const }
  const actionOf = (stopReason: StopReason, content: readonly AssistantBlock[], plainCalls = {}, mustSubmit = false) =>
    interpretReply(
      { model: 'm', content, stopReason, usage: zeroUsage, costUsd: null, requestId: null },
      { mustSubmit, submitted: undefined, plainCalls },
    )
  const ended = { type: 'end_plain', status: 'answered' }
  expect(actionOf('tool_use', [text, use], { a: call })).toEqual({ ...ended, answer: 'done' })
  expect(actionOf('tool_use', [{ ...use, id: 'b' }, use], { a: call, b: refused })).toMatchObject(ended)
  expect(actionOf('tool_use', [use], { a: refused })).toMatchObject({ type: 'execute_tools' })
  expect(actionOf('tool_use', [use])).toMatchObject({ type: 'execute_tools' })
  expect(actionOf('end_turn', [])).toEqual({ ...ended, answer: '' })
  expect(actionOf('end_turn', [], {}, true)).toEqual({ type: 'prompt_again' })
  expect(actionOf('max_tokens', [text, use], { a: call })).toMatchObject({ type: 'end_plain', status: 'truncated' })
  expect(actionOf('end_turn', [text])).toMatchObject({ type: 'end', status: 'answered' })
})
