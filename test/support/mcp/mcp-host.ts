import { onTestFinished } from 'vitest'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { defaultLimits } from '../../../src/common/run/limits.js'
import { offeredTools } from '../../../src/cli/mcp/offered-tools.js'
import { openMcpEndpoint } from '../../../src/serve/index.js'
import type { McpHost } from '../../../src/serve/mcp/index.js'
import { startServer } from '../../../src/serve/index.js'
import { createRegistry } from '../../../src/tools/registry.js'
import type { Tool } from '../../../src/index.js'
import { LocalStore } from '../../../src/values/local/local-store.js'
import { Values } from '../../../src/values/values.js'
import type { TestEnvironment } from '../environment/test-environment.js'

/** What an MCP server needs, from an environment with these tools. */
export function testMcpHost(env: TestEnvironment, tools: readonly Tool[], errors: unknown[] = []): McpHost {
  const options = { limits: defaultLimits, hasPackages: false, documentedTools: 40 }
  const offered = offeredTools({ registry: createRegistry(tools), agents: { names: [] } }, options)
  return {
    ptc: env.ptc,
    values: new Values({ store: new LocalStore(env.valuesDirectory) }),
    tools: () => Promise.resolve(offered),
    onError: (thrown) => errors.push(thrown),
  }
}

/** Serves MCP over HTTP until the test ends; returns the URL of the endpoint. */
export async function serveMcp(host: McpHost, token?: string): Promise<{ url: string; close: () => Promise<void> }> {
  const server = await startServer({ ptc: host.ptc, port: 0, token, mcp: openMcpEndpoint(host) })
  onTestFinished(() => server.close())
  return { url: `${server.url}/mcp`, close: () => server.close() }
}

export type Generation = '2025' | '2026'

type ClientOptions = NonNullable<ConstructorParameters<typeof Client>[1]>

/** Connects the official client, in one generation of the protocol. */
export async function connectMcp(
  url: string,
  generation: Generation,
  { setUp, ...options }: ClientOptions & { readonly setUp?: (client: Client) => void } = {},
): Promise<Client> {
  const mode = generation === '2025' ? 'legacy' : { pin: '2026-07-28' }
  const client = new Client({ name: 'test', version: '1' }, { ...options, versionNegotiation: { mode } })
  setUp?.(client)
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  onTestFinished(() => client.close())
  return client
}

/** The id of the work of a result. */
export function idOf({ _meta: meta }: { readonly _meta?: unknown }): string {
  return (meta as Readonly<Record<string, string>> | undefined)?.['durable-ptc/id'] ?? ''
}

/** The text of a result. */
export function textOf(result: { readonly content?: unknown }): string {
  const [block] = result.content as readonly { readonly text?: string }[]
  return block?.text ?? ''
}
