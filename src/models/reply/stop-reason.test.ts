import { expect, it } from 'vitest'
import { isTruncating, toStopReason } from './stop-reason.js'

it.each([
  ['end_turn', 'end_turn'],
  ['stop', 'end_turn'],
  ['STOP', 'end_turn'],
  ['eos_token', 'end_turn'],
  ['COMPLETE', 'end_turn'],
  ['stop_sequence', 'stop_sequence'],
  ['tool_calls', 'tool_use'],
  ['tool-calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['pause_turn', 'pause_turn'],
])('takes %s for the end %s', (given, reason) => {
  expect(toStopReason(given)).toBe(reason)
  expect(isTruncating(toStopReason(given))).toBe(false)
})

it.each([
  ['length', 'max_tokens'],
  ['model_length', 'max_tokens'],
  ['MAX_TOKENS', 'max_tokens'],
  ['maxTokens', 'max_tokens'],
  ['max_output_tokens', 'max_tokens'],
  ['context_length_exceeded', 'model_context_window_exceeded'],
  ['sensitive', 'refusal'],
  ['content_filter', 'refusal'],
  ['content-filter', 'refusal'],
  ['content_filtered', 'refusal'],
  ['SAFETY', 'refusal'],
  ['guardrail_intervened', 'refusal'],
])('takes %s for the cut %s', (given, reason) => {
  expect(toStopReason(given)).toBe(reason)
  expect(isTruncating(toStopReason(given))).toBe(true)
})

it.each(['error', 'ERROR', 'abort', 'aborted', 'network_error', 'cancelled', 'insufficient_system_resource'])(
  'takes %s for an error of the server',
  (given) => {
    expect(() => toStopReason(given)).toThrow(expect.objectContaining({ code: 'MODEL_SERVER', retryable: true }))
  },
)

it.each(['something_new', 'constructor', '__proto__', ''])('keeps a reason that it does not know: %j', (given) => {
  expect(toStopReason(given)).toBe(given)
  expect(isTruncating(given)).toBe(false)
})
