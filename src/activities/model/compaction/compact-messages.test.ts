import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, expect, it, vi } from 'vitest'
import { checkMessages, randomMessages } from '../../../../test/support/random-messages.js'
import { PtcError } from '../../../common/errors.js'
import { defaultLimits } from '../../../common/run/limits.js'
import { estimateTokens } from '../../../common/agent/context-window.js'
import { type Message, type ModelReply, toMessage } from '../../../common/agent/messages.js'
import type { CompactionInput, CompactionResult } from '../../../common/agent/model-turn.js'
import type { ModelProvider, ModelRequest } from '../../../models/provider.js'
import { ModelProviders } from '../../../models/providers.js'
import { toSendableRequest } from '../../../models/request/sendable-request.js'
import { createRegistry } from '../../../tools/registry.js'
import { LocalStore } from '../../../values/local/local-store.js'
import { Values } from '../../../values/values.js'
import { appendTurn, loadMessages } from '../conversation.js'
import { compactMessages } from './compact-messages.js'
import { countCharacters } from './split-messages.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
const values = new Values({ store: new LocalStore(folder) })
afterAll(() => rmSync(folder, { recursive: true }))
const sources = { registry: createRegistry([]), values, options: {} }
const { signal } = new AbortController()
const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 }

const use = (id: string): Message => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name: 'ping', input: {} }],
})
const result = (id: string, content: string): Message => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content }],
})
/** Returns the messages in the form for providers, with ids that all of them accept. */
const sendable = (messages: readonly Message[]): readonly Message[] =>
  toSendableRequest({ model: 'm', maxTokens: 1, system: '', tools: [], messages }).messages
const question: Message = { role: 'user', content: [{ type: 'text', text: 'What is open?' }] }
const turns = (count: number, content: string): readonly Message[] =>
  Array.from({ length: count }, (_, index) => [use(`t${index}`), result(`t${index}`, content)]).flat()

/** The part of the next request after the stored messages. */
const next: NonNullable<CompactionInput['counted']>['next'] = {
  turn: 9,
  committedTurns: 8,
  language: 'python',
  limits: defaultLimits,
  tools: { digest: 'of another version', documentation: [] },
  instructions: 'Be brief.',
  pending: [{ type: 'tool_result', tool_use_id: 'last', content: 'found' }],
}

interface Setting {
  /** Returns the reply of the model. Default: the summary `notes`. */
  readonly reply?: () => Partial<ModelReply>
  readonly targetTokens: number
  readonly attempt?: number
  /** The counter of the provider. Default: the provider counts no tokens. */
  readonly countTokens?: ModelProvider['countTokens']
}

async function compact(
  messages: readonly Message[],
  { reply = () => ({}), targetTokens, attempt = 1, countTokens }: Setting,
) {
  const requests: ModelRequest[] = []
  const provider: ModelProvider = {
    turn: async (request) => {
      requests.push(request)
      const content = [{ type: 'text', text: 'notes' }]
      const base = { model: request.model, stopReason: 'end_turn', usage, costUsd: 0.25, requestId: null }
      return { ...base, content, ...reply() }
    },
    ...(countTokens && { countTokens }),
    close: () => Promise.resolve(),
  }
  const history = await appendTurn(values, null, messages, signal)
  const input: CompactionInput = {
    turn: 9,
    model: { provider: 'test', name: 'm', maxTokens: 100 },
    history,
    tokens: estimateTokens(countCharacters(messages)),
    targetTokens,
    keptTokens: Math.floor(targetTokens / 2),
    ...(countTokens && { counted: { next, dueTokens: Math.floor((targetTokens * 8) / 7) } }),
  }
  const activity = compactMessages({ ...sources, providers: new ModelProviders({ test: provider }) })
  const compacted: CompactionResult = await new MockActivityEnvironment({ attempt }).run(() => activity(input))
  const earlier = await loadMessages(values, compacted.history, signal)
  return { ...compacted, messages: earlier, requests, before: input }
}

it('a compaction shortens old results without the model when that is enough', async () => {
  const messages = [question, ...turns(8, 'x'.repeat(10_000)), use('last')]
  const compacted = await compact(messages, { targetTokens: 15_000 })
  // The last three replies could read the results of t5, t6 and t7.
  expect(compacted).toMatchObject({ shortened: 5, summarized: 0, requests: [] })
  expect(compacted.messages).toHaveLength(messages.length)
  expect(compacted.messages.slice(11)).toEqual(messages.slice(11))
  expect(compacted.tokens).toBeLessThan(15_000)
  expect(compacted.tokens).toBe(estimateTokens(countCharacters(compacted.messages)))
})

it('a summary replaces early messages when short results are not enough', async () => {
  const messages = [question, ...turns(12, 'x'.repeat(1_900)), use('last')]
  const compacted = await compact(messages, { targetTokens: 4_000 })
  expect(compacted).toMatchObject({ shortened: 0, summary: { model: 'm', usage, costUsd: 0.25 } })
  expect(compacted.summary).not.toHaveProperty('content')
  const [first, ...kept] = compacted.messages
  expect(first?.content).toMatchObject([
    { text: 'What is open?' },
    { text: expect.stringContaining('notes') as string },
  ])
  expect(kept).toEqual(messages.slice(compacted.summarized))
  expect(kept.length).toBeGreaterThan(2)
  expect(compacted.requests).toMatchObject([{ tools: [], maxTokens: 100, model: 'm' }])
  expect(compacted.tokens).toBeLessThan(4_000)
})

it('repeated compactions keep the messages valid for the Messages API and the question unchanged', async () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const messages = randomMessages(seed)
    let current = messages
    for (const targetTokens of [8_000, 3_000, 1_000]) {
      const compacted = await compact(current, { targetTokens })
      checkMessages(compacted.messages)
      expect(compacted.messages[0]?.content[0], `seed ${seed}`).toEqual(messages[0]?.content[0])
      expect(compacted.messages.at(-1)?.role).toBe('assistant')
      current = compacted.messages
    }
  }
})

it.each<[string, () => Partial<ModelReply>, object]>([
  [
    'an empty summary',
    () => ({ content: [] }),
    { problem: 'the model wrote no summary (end_turn)', summary: { usage } },
  ],
  ['a refusal', () => ({ stopReason: 'refusal' }), { problem: expect.stringContaining('refusal'), summary: { usage } }],
  [
    'an error',
    () => {
      throw new PtcError('MODEL_AUTH', 'no key')
    },
    { problem: 'no key' },
  ],
])('a compaction only shortens results after %s', async (_what, reply, expected) => {
  const messages = [question, ...turns(12, 'x'.repeat(2_100)), use('last')]
  const compacted = await compact(messages, { targetTokens: 2_000, reply })
  expect(compacted).toMatchObject({ shortened: 9, summarized: 0, ...expected })
  expect(compacted.messages).toHaveLength(messages.length)
})

it('a compaction retries a transient error of the model, and at last continues without a summary', async () => {
  const messages = [question, ...turns(12, 'short'), use('last')]
  const reply = () => {
    throw new PtcError('MODEL_OVERLOADED', 'busy')
  }
  const failing = (attempt: number) => compact(messages, { targetTokens: 10, reply, attempt })
  await expect(failing(2)).rejects.toMatchObject({ type: 'MODEL_OVERLOADED', nonRetryable: false })
  const compacted = await failing(3)
  expect(compacted).toMatchObject({ problem: 'busy', shortened: 0, summarized: 0, tokens: compacted.before.tokens })
  expect(compacted.history).toEqual(compacted.before.history)
})

it('a compaction of too few messages reports the problem', async () => {
  expect(await compact([question, use('a')], { targetTokens: 1 })).toMatchObject({
    problem: 'the messages are too few for a summary',
    summarized: 0,
  })
})

const many = [question, ...turns(8, 'x'.repeat(10_000)), use('last')]

it('a compaction makes no summary when the provider counts few tokens of the whole next request', async () => {
  const counted: ModelRequest[] = []
  const countTokens = async (request: ModelRequest) => {
    counted.push(request)
    return counted.length === 1 ? 9_000 : 900
  }
  const compacted = await compact(many, { targetTokens: 1_000, countTokens })
  expect(compacted).toMatchObject({ shortened: 5, summarized: 0, tokens: 900, requests: [] })
  expect(counted).toHaveLength(2)
  expect(counted[0]?.messages.slice(0, -1)).toEqual(sendable(many))
  expect(counted[0]).toMatchObject({ model: 'm', system: expect.stringContaining('Be brief.') as string })
  expect(counted[0]?.tools.map(({ name }) => name)).toEqual(['execute_code', 'read_more'])
  expect(counted[1]?.messages.slice(0, -1)).toEqual(sendable(compacted.messages.map(toMessage)))
  expect(counted[1]?.messages.at(-1)?.content).toMatchObject([{ content: 'found' }])
})

it('a compaction does not change the messages when the estimate was too high', async () => {
  const countTokens = async () => 1_142
  const compacted = await compact(many, { targetTokens: 1_000, countTokens })
  expect(compacted).toMatchObject({ shortened: 0, summarized: 0, tokens: 1_142, requests: [] })
  expect(compacted.history).toEqual(compacted.before.history)
})

it('a compaction summarises more messages while the provider counts too many tokens', async () => {
  const counts: number[] = []
  const countTokens = async ({ messages }: ModelRequest) => {
    counts.push(messages.length)
    return messages.length <= 6 ? 700 : 20_000
  }
  const messages = [question, ...turns(12, 'x'.repeat(1_900)), use('last')]
  const compacted = await compact(messages, { targetTokens: 8_000, countTokens })
  const estimated = await compact(messages, { targetTokens: 8_000 })
  expect(compacted.summarized).toBeGreaterThan(estimated.summarized)
  expect(compacted.tokens).toBe(700 + estimateTokens('notes'.length))
  expect(counts[0]).toBe(messages.length + 1)
  expect(counts).toHaveLength(4)
})

it.each<[string, NonNullable<ModelProvider['countTokens']>]>([
  ['fails', () => Promise.reject(new PtcError('MODEL_RATE_LIMIT', 'busy'))],
  ['is not there', () => Promise.resolve(undefined)],
])(
  'tokens are estimated when the counter of the provider %s, and the counter is not asked again',
  async (_what, countTokens) => {
    const asked = vi.fn(countTokens)
    const { history: _, before: __, ...counted } = await compact(many, { targetTokens: 3_000, countTokens: asked })
    const { history: ___, before: ____, ...estimated } = await compact(many, { targetTokens: 3_000 })
    expect(counted).toEqual(estimated)
    expect(counted.summarized).toBeGreaterThan(0)
    expect(asked).toHaveBeenCalledTimes(1)
  },
)

it('tokens are estimated when the counter of the provider is slow', async () => {
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => AbortSignal.abort(new Error('slow')))
  const countTokens: ModelProvider['countTokens'] = async (_request, { signal: deadline }) => {
    deadline.throwIfAborted()
    return 1
  }
  const compacted = await compact(many, { targetTokens: 15_000, countTokens })
  vi.restoreAllMocks()
  expect(compacted.tokens).toBe(estimateTokens(countCharacters(compacted.messages)))
})
