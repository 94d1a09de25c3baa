/*
 * MCP servers as sources of tools: each tool of a server is a tool of runs, with identity, approval, limits and audit.
 *
 * Owns: the connections of a worker to its servers, the processes of servers that it starts, the mapping of names,
 * schemas, annotations and results, and tools for what a server has besides tools (requests.ts).
 * Boundary: the SDK (`@modelcontextprotocol/client`) speaks the protocol. It is loaded when a configuration has a server.
 * `interaction/` has the questions of servers to people, and `oauth/` the access to servers that ask for it.
 *
 * Invariants:
 * 1. A call is executed at most once for each attempt. A request is sent again only when the server did not know its
 *    session, and so did not execute it. Without a connection nothing was sent, and the call has had no effect.
 * 2. What a server says is bounded before it is read: bytes of a message, pages and tools of a list, characters of
 *    descriptions and errors, lines of its log. A tool with a bad definition is left out, and the others stay.
 * 3. A server gets only the environment that its options name, and no other secret of the worker. A sandboxed one has no
 *    network and no file of the host.
 * 4. A process ends with its whole group: at `close`, when its connection ends, and when this process is killed. It
 *    lives only in a worker that makes calls of tools; another worker ends it when it has the list.
 * 5. New runs have the server's list of today, and a run that of its start. A list is read once for all reports of a
 *    second, and a failed reading changes nothing.
 * 6. A call is sent only if the definition of its tool is the one that its run has recorded, as far as the server
 *    reports changes: the list is read again before the first call after a report, and after a new connection.
 */
import type { ToolSource } from '../tool-source.js'
import { withLogin } from './oauth/login-of-source.js'
import { openTokenStore, type TokenSettings } from './oauth/open-token-store.js'
import { ServerTools, type ServerToolsOptions } from './server-tools.js'

export interface McpSourceOptions extends Omit<ServerToolsOptions, 'tokens'> {
  /** Where the access to servers with `oauth` is kept. Undefined: such servers are reached without. */
  readonly tokenSettings?: TokenSettings
}

/** The tools of one server. */
export function mcpSource({ tokenSettings, ...options }: McpSourceOptions): ToolSource {
  const { name, server } = options
  const oauth = 'url' in server && server.oauth && tokenSettings
  const access = oauth ? openTokenStore(name, server.url, oauth) : undefined
  let opened: ServerTools | undefined
  const source: ToolSource = {
    name: `MCP server ${name}`,
    list({ signal, ...list }) {
      opened = new ServerTools({ ...options, tokens: access?.tokens }, list)
      return opened.open(signal)
    },
    async close() {
      await opened?.close()
      await access?.close()
    },
  }
  return access ? withLogin(source, { ...options, ...access }) : source
}
