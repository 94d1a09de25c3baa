import { createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, beforeEach, vi } from 'vitest'
import type { AnthropicProviderOptions } from '../../../src/models/anthropic/options.js'
import { createAnthropicProvider } from '../../../src/models/anthropic/provider.js'
import type { ModelProvider, ModelRequest } from '../../../src/models/provider.js'
import { startRawServer } from './raw-server.js'

interface Closable {
  close(): Promise<void>
}

const open: Closable[] = []

/** Hides this machine's credentials from each test, and stops its servers afterwards. */
export function isolateTests(): void {
  beforeEach(() => {
    const names = ['API_KEY', 'AUTH_TOKEN', 'BASE_URL', 'PROFILE', 'FEDERATION_RULE_ID', 'ORGANIZATION_ID']
    for (const name of names) vi.stubEnv(`ANTHROPIC_${name}`, undefined)
    for (const name of ['OPENAI_API_KEY', 'OPENAI_BASE_URL']) vi.stubEnv(name, undefined)
    // The SDK searches profiles here.
    vi.stubEnv('ANTHROPIC_CONFIG_DIR', '/nowhere')
  })
  afterEach(async () => {
    vi.unstubAllEnvs()
    for (const one of open.splice(0).toReversed()) await one.close()
  })
}

/** Closes the server after the test. */
export function closeAfterTest<T extends Closable>(one: T): T {
  open.push(one)
  return one
}

export async function startServer(...args: Parameters<typeof startRawServer>) {
  return closeAfterTest(await startRawServer(...args))
}

export function createProvider(options: AnthropicProviderOptions): ModelProvider {
  return closeAfterTest(createAnthropicProvider(options))
}

export const request: ModelRequest = {
  model: 'claude-sonnet-5-5',
  maxTokens: 1_000,
  system: 'Be brief.',
  tools: [{ name: 'add', description: 'Adds.', inputSchema: { type: 'object' }, inputExamples: [] }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
}

export const neverAborted = new AbortController().signal

export function runTurn(provider: ModelProvider, signal: AbortSignal = neverAborted) {
  return provider.turn(request, { signal, onProgress: () => undefined })
}

/** A TCP server that handles every connection in the same way. */
export async function startTcpServer(treat: (socket: Socket) => void): Promise<{ readonly port: number } & Closable> {
  const server = createServer(treat).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => {
        resolve()
      })
    })
  return closeAfterTest({ port: (server.address() as AddressInfo).port, close })
}
