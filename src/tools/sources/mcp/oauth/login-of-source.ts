import { type Credentials, noRun } from '../../../credentials/credentials.js'
import { fillCredentials } from '../../credential-references.js'
import type { ToolSource } from '../../tool-source.js'
import { credentialsIn, type ParsedMcpServer } from '../server-options.js'
import { beginLogin, type Login } from './login.js'
import { grantOf } from './oauth-options.js'
import type { TokenStore } from './token-store.js'

/** A server to which a person may give access. */
export interface LoginServer {
  readonly name: string
  /** @throws PtcError TOOL_SOURCE_FAILED, CREDENTIAL_UNAVAILABLE */
  begin(redirectUrl: string, signal: AbortSignal): Promise<Login>
  /** Ends the access. Returns false when there was none. */
  end(signal: AbortSignal): Promise<boolean>
  close(): Promise<void>
}

interface LoginOptions {
  readonly name: string
  readonly server: ParsedMcpServer
  readonly credentials: Credentials
  readonly tokens: TokenStore
  readonly close: () => Promise<void>
}

/** Key of the login of a source, for any copy of this package. */
const marker: unique symbol = Symbol.for('durable-ptc.mcp-login')

/** The server of a source to which people give access; undefined for another source. The caller closes it. */
export function loginOf(source: ToolSource): LoginServer | undefined {
  return marker in source ? (source as ToolSource & { [marker](): LoginServer | undefined })[marker]() : undefined
}

export function withLogin(source: ToolSource, options: LoginOptions): ToolSource {
  return Object.assign(source, { [marker]: () => loginServer(options) })
}

function loginServer({ name, server, credentials, tokens, close }: LoginOptions): LoginServer | undefined {
  if (!('url' in server) || server.oauth === undefined || grantOf(server.oauth) !== 'authorization_code')
    return undefined
  const { url, oauth } = server
  return {
    name,
    async begin(redirectUrl, signal) {
      const request = { tool: `MCP server ${name}`, ...noRun }
      const { values } = await credentials.resolve(credentialsIn(server), request, 1, signal)
      const secret = fillCredentials(oauth.clientSecret ?? '', (each) => values.get(each) ?? '')
      const clientSecret = secret === '' ? undefined : secret
      return beginLogin(
        await import('@modelcontextprotocol/client'),
        { name, url, oauth, tokens, clientSecret },
        redirectUrl,
      )
    },
    async end(signal) {
      for (;;) {
        const { number, access } = await tokens.latest(signal)
        if (!access) return false
        if (await tokens.replace(number, undefined, signal)) return true
      }
    },
    close,
  }
}
