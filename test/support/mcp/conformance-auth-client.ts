// The client of the authorization scenarios of the conformance suite: logs in if it must, and calls a tool.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { discoverOAuthServerInfo } from '@modelcontextprotocol/client'
import { Credentials } from '../../../src/tools/credentials/credentials.js'
import { mcpSource } from '../../../src/tools/sources/mcp/mcp-source.js'
import { loginOf } from '../../../src/tools/sources/mcp/oauth/login-of-source.js'
import { mcpOption } from '../../../src/tools/sources/mcp/server-options.js'
import { listTools, noLog } from '../../../src/tools/sources/tool-source.js'
import type { ToolContext } from '../../../src/index.js'

const url = process.argv.at(-1) ?? ''
const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: json = '{}' } = process.env
const { client_id: clientId, client_secret: secret } = JSON.parse(json) as Partial<Record<string, string>>

const redirectUrl = 'http://127.0.0.1:65001/callback'
const { signal } = new AbortController()
const directory = await mkdtemp(join(tmpdir(), 'ptc-conformance-'))
try {
  const grant = scenario.startsWith('auth/client-credentials') ? 'client_credentials' : 'authorization_code'
  const { authorizationServerUrl } = await discoverOAuthServerInfo(url)
  const registered = { clientId, clientSecret: '${secret}', issuer: authorizationServerUrl.replace(/\/$/, '') }
  const oauth = clientId === undefined ? {} : { ...registered, grant }
  const server = mcpOption.parse({ suite: { url, approval: 'never', oauth } })['suite']
  if (server === undefined) throw new Error('the options are wrong')
  const credentials = new Credentials(secret === undefined ? {} : { secret: () => secret })
  const tokenSettings = { store: { kind: 'local', directory } as const, keys: undefined }
  const openContainer = () => Promise.reject(new Error('a server over HTTP has no container'))
  const source = mcpSource({ name: 'suite', server, credentials, folder: '.', openContainer, tokenSettings })
  const begun = await loginOf(source)?.begin(redirectUrl, signal)
  if (begun) {
    const location = (await fetch(begun.url, { redirect: 'manual' })).headers.get('location') ?? ''
    await begun.finish(new URL(location).searchParams, signal)
  }
  const { tools, close } = await listTools([source], noLog)
  const ignored = (): void => undefined
  const context = { signal, idempotencyKey: 'key', milestone: ignored, heartbeat: ignored }
  await tools[0]?.run({}, context as unknown as ToolContext)
  await close()
} finally {
  await rm(directory, { recursive: true, force: true })
}
