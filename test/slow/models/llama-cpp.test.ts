import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { fileStream } from '../../../src/stream/index.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { llamaPackages, startLlamaServer } from '../../support/llama/llama-server.js'
import { readEvents, shownText } from '../../support/stream/shown-text.js'
import { tool } from '../../support/tools.js'

const packages = (await llamaPackages()) ?? ''

/** Enough tokens for a conversation with the instructions and tools of the engine. */
const contextTokens = 8_192

/** The reply of a model of this size is uncertain. Each of these statuses shows that its replies were read. */
const readable = ['answered', 'truncated', 'no_answer', 'turn_limit']

async function startEnvironment(baseURLs: readonly string[], window = contextTokens): Promise<TestEnvironment> {
  return TestEnvironment.start({
    stream: fileStream({ folder: await temporaryFolder() }),
    tools: [tool('ping', () => 'pong')],
    providers: Object.fromEntries(baseURLs.map((baseURL, index) => [`local${index}`, { kind: 'openai', baseURL }])),
    model: { name: baseURLs.map((_, index) => `local${index}/smollm2`), contextWindow: window, maxTokens: 40 },
    limits: { turns: 2 },
  })
}

describe.skipIf(packages === '')('a real model on the server of llama.cpp', () => {
  it('a run with a model on llama.cpp answers, and its text is streamed', async () => {
    await using server = await startLlamaServer(packages, contextTokens)
    const env = await startEnvironment([server.baseURL])
    const { status, usage } = await env.runAgent({ question: 'What is the capital of France?' })
    expect(readable).toContain(status)
    // The instructions of the engine alone have this many tokens.
    expect(usage.inputTokens).toBeGreaterThan(300)
    expect(usage.outputTokens).toBeGreaterThan(0)
    const events = await readEvents(env.ptc.handle(env.lastRun.workflowId).stream())
    expect(events.map(({ type }) => type)).toContain('turn.completed')
    expect(shownText(events) + shownText(events, 'code')).not.toBe('')
  })

  it('a model on llama.cpp answers the messages of a conversation one after the other', async () => {
    await using server = await startLlamaServer(packages, contextTokens)
    const env = await startEnvironment([server.baseURL])
    const conversation = env.ptc.conversation(`talk-${randomUUID()}`)
    for (const text of ['My name is Ada.', 'What is my name?']) {
      const { id } = await conversation.send(text)
      expect(readable).toContain((await conversation.answer(id)).status)
    }
    expect((await conversation.status()).turns).toBeGreaterThanOrEqual(2)
    await conversation.close()
  })

  it('a model on llama.cpp reports that a question is longer than the context window', async () => {
    await using server = await startLlamaServer(packages, 4_096)
    const env = await startEnvironment([server.baseURL], 4_096)
    const { status } = await env.runAgent({ question: 'word '.repeat(8_000) })
    expect(status).toBe('context_full')
  })

  it('another server replaces one of llama.cpp that dies while it streams a reply', async () => {
    await using server = await startLlamaServer(packages, contextTokens)
    await using spare = await startLlamaServer(packages, contextTokens)
    const env = await startEnvironment([server.baseURL, spare.baseURL])
    const handle = await env.ptc.startAgent({ question: 'Tell me a long story about a ship.' })
    for await (const event of handle.stream()) if (event.type === 'text.delta' || event.type === 'code.delta') break
    await server.kill()
    const { status, usage } = await handle.result()
    expect(readable).toContain(status)
    expect(usage.outputTokens).toBeGreaterThan(0)
  })
})
