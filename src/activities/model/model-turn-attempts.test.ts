import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, expect, it } from 'vitest'
import { type ErrorCode, PtcError } from '../../common/errors.js'
import { defaultLimits } from '../../common/run/limits.js'
import type { ModelTurnInput } from '../../common/agent/model-turn.js'
import { ModelProviders } from '../../models/providers.js'
import { createRegistry } from '../../tools/registry.js'
import { LocalStore } from '../../values/local/local-store.js'
import { Values } from '../../values/values.js'
import { modelTurn } from './model-turn.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
const values = new Values({ store: new LocalStore(folder) })
afterAll(() => rmSync(folder, { recursive: true }))
const registry = createRegistry([])

const input: ModelTurnInput = {
  turn: 1,
  model: { provider: 'anthropic', name: 'm', maxTokens: 100 },
  limits: defaultLimits,
  language: 'python',
  tools: { digest: registry.digest, documentation: [] },
  history: null,
  committedTurns: 0,
  pending: [{ type: 'text', text: 'Go.' }],
}

/** Returns the failures of a turn. Its attempts fail with these errors, one after the other. */
async function failuresOf(errors: readonly PtcError[]): Promise<readonly unknown[]> {
  const failures: unknown[] = []
  let heartbeatDetails: unknown
  for (const [earlier, error] of errors.entries()) {
    const environment = new MockActivityEnvironment({ attempt: earlier + 1, heartbeatDetails })
    environment.on('heartbeat', (details) => (heartbeatDetails = details))
    const turn = () => Promise.reject(error)
    const providers = new ModelProviders({ anthropic: { turn, close: () => Promise.resolve() } })
    const activity = modelTurn({ providers, registry, values, options: {} })
    failures.push(await environment.run(() => activity(input)).catch((thrown: unknown) => thrown))
  }
  return failures
}

/** Returns for each attempt whether it is the last one. */
async function lastOnes(...codes: readonly ErrorCode[]): Promise<readonly boolean[]> {
  const failures = await failuresOf(codes.map((code) => new PtcError(code, 'no')))
  return failures.map((failure) => (failure as { readonly nonRetryable: boolean }).nonRetryable)
}

it('a failed turn passes the retry delay of the provider to Temporal', async () => {
  const limited = new PtcError('MODEL_RATE_LIMIT', 'too many requests', { retryAfterMs: 7_000 })
  expect(await failuresOf([limited, new PtcError('MODEL_AUTH', 'no key')])).toMatchObject([
    { type: 'MODEL_RATE_LIMIT', nextRetryDelay: 7_000, nonRetryable: false },
    { nonRetryable: true },
  ])
})

it('the model is asked once more after an unusable reply', async () => {
  expect(await lastOnes('MODEL_REPLY_INVALID', 'MODEL_REPLY_INVALID')).toEqual([false, true])
})

it('other failures before and between unusable replies do not count', async () => {
  const codes = ['MODEL_OVERLOADED', 'MODEL_REPLY_INVALID', 'MODEL_STREAM', 'MODEL_REPLY_INVALID'] as const
  expect(await lastOnes(...codes)).toEqual([false, false, false, true])
})
