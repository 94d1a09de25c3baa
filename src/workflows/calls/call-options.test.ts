import { expect, test } from 'vitest'
import type { ToolConfig } from '../../common/calls/tool-config.js'
import type { Run } from '../run/run.js'
import { priorityOf, retryPolicyOf } from './call-options.js'

const tool: ToolConfig = {
  name: 'look_up',
  allowedCallers: ['direct'],
  effect: 'read',
  timeoutMs: 1_000,
  attempts: 3,
  inputDigest: '',
}
const runWith = (context?: object) => ({ config: { context } }) as unknown as Run
const byTenant = { ...tool, priority: { priorityKey: 2, fairnessKey: { context: 'tenant' } } }

test('a call of a tool without a priority has no priority', () => {
  expect(priorityOf(runWith({ tenant: 'acme' }), tool)).toEqual({})
})

test('the fairness key of a call is from the tool, or from a field of the context of the run', () => {
  const fixed = { ...tool, priority: { fairnessKey: 'reports' } }
  expect(priorityOf(runWith(), fixed)).toEqual({ priority: { fairnessKey: 'reports' } })
  expect(priorityOf(runWith({ tenant: 'acme' }), byTenant)).toEqual({
    priority: { priorityKey: 2, fairnessKey: 'acme' },
  })
  expect(priorityOf(runWith({ tenant: 7 }), byTenant)).toEqual({ priority: { priorityKey: 2, fairnessKey: '7' } })
})

test.each([undefined, {}, { tenant: null }, { tenant: { id: 1 } }, { tenant: '' }])(
  'context %j gives no fairness key',
  (context) => {
    expect(priorityOf(runWith(context), byTenant)).toEqual({ priority: { priorityKey: 2 } })
  },
)

test('a fairness key has at most 64 bytes, which Temporal accepts', () => {
  const { priority } = priorityOf(runWith({ tenant: 'é'.repeat(100) }), byTenant)
  expect(Buffer.byteLength(priority?.fairnessKey ?? '')).toBeLessThanOrEqual(64)
  expect(priority?.fairnessKey).toMatch(/^é+/)
})

test('without options, the retry policy of a tool of the configuration has the default intervals', () => {
  expect(retryPolicyOf(tool, 208)).toEqual({
    initialInterval: '500ms',
    maximumInterval: '30s',
    maximumAttempts: 208,
    nonRetryableErrorTypes: ['DECRYPTION_FAILED'],
  })
})

test("a remote tool's refusal is not retried, and a remote 'once' call is never retried", () => {
  const remote = { kind: 'activity', type: 'x', scheduleToStartMs: 1 } as const
  const retry = { nonRetryableErrorTypes: ['KeyError'] }
  expect(retryPolicyOf({ ...tool, remote, retry }, 3)).toMatchObject({
    maximumAttempts: 3,
    nonRetryableErrorTypes: ['KeyError', 'ToolError', 'DECRYPTION_FAILED'],
  })
  expect(retryPolicyOf({ ...tool, effect: 'once', remote }, 3).maximumAttempts).toBe(1)
})
