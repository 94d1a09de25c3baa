import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CancelledFailure } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../../test/support/tools.js'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { type ExternalValue, externalValue, isExternal } from '../../common/json/external-value.js'
import type { JsonObject } from '../../common/json/json.js'
import { defaultLimits } from '../../common/run/limits.js'
import { type AssistantBlock, isToolUseBlock, type ModelReply } from '../../common/agent/messages.js'
import type { ModelTurnInput, ModelTurnResult } from '../../common/agent/model-turn.js'
import { zeroUsage } from '../../common/run/runs.js'
import type { ModelProvider, ModelRequest, TurnOptions } from '../../models/provider.js'
import { ModelProviders } from '../../models/providers.js'
import { createRegistry } from '../../tools/registry.js'
import { LocalStore } from '../../values/local/local-store.js'
import { Values } from '../../values/values.js'
import { readLog } from '../../values/value-log.js'
import { modelTurn } from './model-turn.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
const values = new Values({ store: new LocalStore(folder) })
afterAll(() => rmSync(folder, { recursive: true }))

const registry = createRegistry([tool('pay', () => null, { input: z.object({ cents: z.int() }) as never })])

const input: ModelTurnInput = {
  turn: 1,
  model: { provider: 'anthropic', name: 'scripted', maxTokens: 100 },
  limits: defaultLimits,
  language: 'python',
  tools: { digest: registry.digest, documentation: [] },
  instructions: 'Be brief.',
  history: null,
  committedTurns: 0,
  pending: [{ type: 'text', text: 'What did Ada spend?' }],
}

/** Runs one turn with a provider that the test scripts. */
function runTurn(
  turn: (request: ModelRequest, options: TurnOptions) => Promise<readonly AssistantBlock[]>,
  change: Partial<ModelTurnInput> = {},
  attempt = 1,
) {
  const environment = new MockActivityEnvironment({ heartbeatTimeoutMs: 60, attempt })
  const heartbeats: unknown[] = []
  environment.on('heartbeat', (details) => heartbeats.push(details))
  const provider: ModelProvider = {
    hostsCode: true,
    turn: async (request, options) => ({
      model: request.model,
      content: await turn(request, options),
      stopReason: 'tool_use',
      usage: zeroUsage,
      costUsd: 0,
      requestId: null,
    }),
    close: () => Promise.resolve(),
  }
  const activity = modelTurn({
    providers: new ModelProviders({ anthropic: provider }),
    registry,
    values,
    options: { hasPackages: false },
  })
  const result: Promise<ModelTurnResult> = environment.run(() => activity({ ...input, ...change }))
  result.catch(() => undefined)
  return { environment, heartbeats, result }
}

/** Returns the ids of the tool uses in a reply. The engine creates them. */
const idsIn = ({ content }: ModelReply): readonly string[] => content.filter(isToolUseBlock).map(({ id }) => id)

const use = (id: string, name: string, input: JsonObject) => ({ type: 'tool_use', id, name, input }) as const

it('a turn stores the conversation, and the next turn sends it again', async () => {
  const first = await runTurn(() => Promise.resolve([{ type: 'thinking', thinking: 'hm', signature: 's' }])).result
  // The history of the workflow has no thinking; the stored conversation has.
  expect(first.reply.content).toEqual([{ type: 'thinking' }])
  let sent: ModelRequest | undefined
  const pending = [{ type: 'text', text: 'And Lin?' }] as const
  const second = runTurn(
    (request) => {
      sent = request
      return Promise.resolve([{ type: 'text', text: 'Nothing.' }])
    },
    { history: first.history, pending },
  )
  const { history, conversationBytes } = await second.result
  expect(sent).toMatchObject({ model: 'scripted', maxTokens: 100, system: expect.stringContaining('Be brief.') })
  expect(sent?.messages).toEqual([
    { role: 'user', content: input.pending },
    { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: 's' }] },
    { role: 'user', content: pending },
  ])
  expect(history).toMatchObject({ length: 4 })
  expect(conversationBytes).toBe(Buffer.byteLength(JSON.stringify(sent?.messages)))
})

it('thinking is sent only to the model that wrote it', async () => {
  const thinking = [
    { type: 'thinking', thinking: 'hm', signature: 's' },
    { type: 'redacted_thinking', data: 'd' },
  ] as const
  const said = { type: 'text', text: 'Let me see.' } as const
  const sent: ModelRequest[] = []
  const first = await runTurn(() => Promise.resolve([...thinking, said])).result
  const turn = (request: ModelRequest) => {
    sent.push(request)
    return Promise.resolve([said])
  }
  const next = { history: first.history, pending: [{ type: 'text', text: 'And?' }] } as const
  await runTurn(turn, next).result
  await runTurn(turn, { ...next, model: { ...input.model, name: 'another' } }).result
  expect(sent.map(({ messages }) => messages[1])).toEqual([
    { role: 'assistant', content: [...thinking, said] },
    { role: 'assistant', content: [said] },
  ])
})

it('images are sent with their data, and stored by reference', async () => {
  const png = Buffer.from(`\x89PNG\r\n\x1a\n${'x'.repeat(9_000)}`, 'latin1').toString('base64')
  const data = externalValue(await values.store(png, new AbortController().signal))
  const image = (source: string | ExternalValue) =>
    ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: source } }) as const
  const sent: ModelRequest[] = []
  const turn = (request: ModelRequest) => {
    sent.push(request)
    return Promise.resolve([{ type: 'text', text: 'A square.' }] as const)
  }
  const first = await runTurn(turn, { pending: [image(data), ...input.pending] }).result
  expect(first.conversationBytes).toBeLessThan(1_000)
  await runTurn(turn, { history: first.history, pending: [{ type: 'text', text: 'And now?' }] }).result
  expect(sent.map(({ messages }) => messages[0]?.content[0])).toEqual([image(png), image(png)])
  const stored = await readLog(values, first.history, 'a test', new AbortController().signal)
  expect(stored[0]).toEqual({ role: 'user', content: [image(data), ...input.pending] })
})

it('a turn sends the temperature of the run, also 0', async () => {
  const sent: (number | undefined)[] = []
  const turn = (request: ModelRequest) => {
    sent.push(request.temperature)
    return Promise.resolve([{ type: 'text', text: 'yes' }] as const)
  }
  await runTurn(turn, { model: { ...input.model, temperature: 0 } }).result
  await runTurn(turn).result
  expect(sent).toEqual([0, undefined])
})

it('a turn describes direct calls, and externalizes large code and arguments', async () => {
  const { reply, calls } = await runTurn(() =>
    Promise.resolve([
      use('a', 'pay', { cents: 5 }),
      use('b', 'execute_code', { code: 'x'.repeat(10_000) }),
      use('c', 'pay', { cents: 'five' }),
      use('d', 'gone', { text: 'x'.repeat(10_000) }),
    ]),
  ).result
  const [a = '', , c = '', d = ''] = idsIn(reply)
  expect(Object.keys(calls).toSorted()).toEqual([a, c, d].toSorted())
  expect(calls[a]).toMatchObject({ index: 1, tool: 'pay', arguments: { cents: 5 }, refused: null })
  // The code has number 2.
  expect(calls[c]).toMatchObject({ index: 3, refused: { status: 'invalid_arguments' } })
  expect(calls[d]).toMatchObject({ index: 4, refused: { status: 'denied' } })
  expect(isExternal(calls[d]?.arguments ?? null)).toBe(true)
  expect(reply.content[1]).toMatchObject({ input: { code: { 'ptc.value': expect.anything() } } })
  expect(JSON.stringify({ reply, calls }).length).toBeLessThan(10_000)
})

it('a turn keeps the language that code names, and only its begin if it is long', async () => {
  const uses = ['bash', null, ['bash'], 'x'.repeat(10_000)].map((language) => ({ code: 'ls', language }))
  const { reply } = await runTurn(() =>
    Promise.resolve(uses.map((input, index) => use(`u${index}`, 'execute_code', input))),
  ).result
  expect(reply.content).toMatchObject([
    { input: { code: 'ls', language: 'bash' } },
    { input: { code: 'ls' } },
    { input: { code: 'ls', language: '["bash"]' } },
    { input: { code: 'ls', language: expect.stringMatching(/^x{40}…$/) } },
  ])
  expect(reply.content[1]).not.toHaveProperty('input.language')
})

it('a call with unreadable arguments is refused, even if the tool accepts any arguments', async () => {
  const { calls, reply } = await runTurn(() =>
    Promise.resolve([
      { ...use('a', 'pay', { cents: 5 }), input_problem: 'The arguments are no JSON.' },
      use('b', 'pay', { cents: 5 }),
    ]),
  ).result
  const [a = '', b = ''] = idsIn(reply)
  expect(calls[a]?.refused).toEqual({ status: 'invalid_arguments', message: 'The arguments are no JSON.' })
  expect(calls[b]?.refused).toBeNull()
})

it('a turn with a valid answer describes the call that checks whether the work is done', async () => {
  const done = { mode: 'autonomous', doneCheck: 'pay' } as const
  const submitting = (answer: string | number) =>
    runTurn(() => Promise.resolve([use('a', 'submit_answer', { answer })]), done).result
  const { answer, calls, reply } = await submitting('Done.')
  expect(answer).toEqual({ type: 'valid', output: 'Done.' })
  // The tool does not take the answer. It refuses a call without its own argument, like a call of a model.
  expect(calls[idsIn(reply)[0] ?? '']).toMatchObject({
    tool: 'pay',
    index: 1,
    arguments: {},
    refused: { status: 'invalid_arguments' },
  })
  expect(await submitting(3)).toMatchObject({ answer: { type: 'invalid' }, calls: {} })
})

it('a turn reports the phase of the reply that the model is writing', async () => {
  const { heartbeats, result } = runTurn(async (_request, { onProgress }) => {
    onProgress({ phase: 'text', outputCharacters: 3 })
    await new Promise((resolve) => setTimeout(resolve, 200))
    return [{ type: 'text', text: 'yes' }]
  })
  await result
  expect(heartbeats).toContainEqual({ phase: 'text', outputCharacters: 3 })
})

it('the request to the model is cancelled with its run', async () => {
  const { environment, result } = runTurn((_request, { signal }) => {
    queueMicrotask(() => environment.cancel())
    return new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
    )
  })
  await expect(result).rejects.toThrow(CancelledFailure)
})

it('a turn of a provider that this worker lacks is left to another worker', async () => {
  const model = { provider: 'local', name: 'm', maxTokens: 1 }
  await expect(runTurn(() => Promise.reject(new Error('not asked')), { model }).result).rejects.toMatchObject({
    type: 'MODEL_PROVIDER_MISSING',
    message: expect.stringContaining('this worker has no model provider "local"') as string,
    nonRetryable: false,
  })
})

it.each([
  [3, {}, true],
  [2, {}, false],
  [1, { retryAfterMs: 10_001 }, true],
  [1, { retryAfterMs: 10_000 }, false],
])('a model with a fallback is given up: attempt %i, %j: %s', async (attempt, options, nonRetryable) => {
  const model = { ...input.model, fallbacks: [{ provider: 'anthropic', name: 'other' }] }
  const failing = () => Promise.reject(new PtcError('MODEL_OVERLOADED', 'busy', options))
  const failure = { type: 'MODEL_OVERLOADED' }
  await expect(runTurn(failing, { model }, attempt).result).rejects.toMatchObject({ ...failure, nonRetryable })
  await expect(runTurn(failing, {}, attempt).result).rejects.toMatchObject({ ...failure, nonRetryable: false })
})

describe('a turn with hosted code', () => {
  const container = { id: 'container_1', expiresAt: null }
  const caller = { type: 'code_execution_20260120', tool_id: 's1' }

  it('a turn with hosted code sends the container, and returns the data of the code for the workflow', async () => {
    let sent: ModelRequest | undefined
    const stdout = 'x'.repeat(10_000)
    const { reply, calls } = await runTurn(
      (request) => {
        sent = request
        return Promise.resolve([
          { type: 'server_tool_use', id: 's1', name: 'code_execution', input: { code: 'print(1)' } },
          { ...use('a', 'pay', { cents: 5 }), caller },
          use('b', 'execute_code', { code: 'print(2)' }),
          {
            type: 'code_execution_tool_result',
            tool_use_id: 's1',
            content: { type: 'code_execution_result', stdout, stderr: '', return_code: 0, content: [] },
          },
        ])
      },
      { hosted: { container } },
    ).result
    expect(sent?.hostedCode).toEqual({ container })
    expect(sent?.tools.map(({ name }) => name)).toEqual(['pay'])
    expect(reply.content).toMatchObject([
      { type: 'server_tool_use', id: 's1', name: 'code_execution', input: { code: 'print(1)' } },
      { type: 'tool_use', id: 'a', caller },
      { type: 'tool_use', id: expect.stringMatching(/^[A-Za-z0-9]{9}$/) as string, name: 'execute_code' },
      { tool_use_id: 's1', content: { stdout: { 'ptc.value': { bytes: 10_002 } }, stderr: '', return_code: 0 } },
    ])
    expect(reply.content[2]).not.toHaveProperty('caller')
    expect(Object.keys(calls)).toEqual(['a'])
  })

  it('a turn with hosted code refuses a provider that does not execute code', async () => {
    const provider = { turn: () => Promise.reject(new Error()), close: () => Promise.resolve() }
    const providers = new ModelProviders({ anthropic: provider })
    const activity = modelTurn({ providers, registry, values, options: { hasPackages: false } })
    const run = new MockActivityEnvironment().run(() => activity({ ...input, hosted: {} }))
    await expect(run).rejects.toMatchObject({ type: 'MODEL_BAD_REQUEST', nonRetryable: true })
  })

  it('a turn after lost code stores the end of the code in the history', async () => {
    const lost = { uses: [{ id: 's1', name: 'code_execution' }], reason: 'expired' } as const
    let sent: ModelRequest | undefined
    const turn = (request: ModelRequest) => {
      sent = request
      return Promise.resolve([{ type: 'text', text: 'Again.' }] as const)
    }
    const { history } = await runTurn(turn, { hosted: { lost }, pending: [] }).result
    expect(sent?.messages.map(({ role }) => role)).toEqual(['assistant', 'user'])
    expect(history).toMatchObject({ length: 3 })
  })
})

it('the use of an environment tool is a cell for the workflow, and stays what it is in the conversation', async () => {
  const content = 'x'.repeat(10_000)
  const uses = [
    use('t1', 'write_file', { path: 'f', content }),
    use('t2', 'execute_command', { command: 'ls' }),
    use('t3', 'execute_code', { code: 'ls', language: 'bash', tool: 'execute_command' }),
    use('t4', 'grep', { pattern: 'x' }),
    { ...use('t5', 'write_file', {}), input_problem: 'the input is cut off' },
  ]
  const environment = { tools: ['execute_command', 'write_file'] } as const
  const { reply, calls, history } = await runTurn(() => Promise.resolve(uses), { environment }).result
  const language = 'environment'
  const used = reply.content.filter(isToolUseBlock)
  expect(used.map(({ name, input, input_problem }) => ({ name, input, ...defined({ input_problem }) }))).toEqual([
    { name: 'execute_code', input: { code: expect.anything() as never, language, tool: 'write_file' } },
    {
      name: 'execute_code',
      input: {
        code: '{"tool":"execute_command","arguments":{"command":"ls"},"characters":20000}',
        language,
        tool: 'execute_command',
      },
    },
    // A model can't say that its code is of a tool.
    { name: 'execute_code', input: { code: 'ls', language: 'bash' } },
    { name: 'grep', input: { pattern: 'x' } },
    { name: 'execute_code', input: { code: null, tool: 'write_file' }, input_problem: 'the input is cut off' },
  ])
  expect(isExternal(used[0]?.input['code'] ?? null)).toBe(true)
  // The run does not have `grep`: it is an unknown tool.
  expect(Object.keys(calls)).toEqual([used[3]?.id])
  const stored = await readLog(values, history, 'a test', AbortSignal.timeout(60_000))
  expect(JSON.stringify(stored)).toContain('"name":"write_file"')
})
