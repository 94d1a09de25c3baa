/*
 * MCP servers as sources of tools: each tool of a server is a tool of runs, with identity, approval, limits and audit.
 *
 * Owns: the connections of a worker to its servers, the processes of servers that it starts, and the mapping of names,
 * schemas, annotations and results.
 * Boundary: the SDK (`@modelcontextprotocol/client`) speaks the protocol. It is loaded when a configuration has a server.
 * `interaction/` has the questions of servers to people, and `oauth/` the access to servers that ask for it.
 *
 * Invariants:
 * 1. A call is executed at most once for each attempt. A request is sent again only when the server did not know its
 *    session, and so did not execute it. Without a connection nothing was sent, and the call has had no effect.
 * 2. What a server says is bounded before it is read: bytes of a message, pages and tools of a list, characters of
 *    descriptions and errors, lines of its log. A tool with a bad definition is left out, and the others stay.
 * 3. A server gets only the environment that its options name, and no other secret of the worker.
 * 4. A process ends with its whole group: at `close`, when its connection ends, and when this process is killed.
 */
import { messageOf, PtcError } from '../../../common/errors.js'
import { toOneLine, truncateEnd } from '../../../common/text/text.js'
import type { Tool } from '../../tool.js'
import { withTimeLimit } from '../../validation/time-limit.js'
import { matchesAny, unmatchedPattern } from '../name-patterns.js'
import { sourceToolNames } from '../source-tool-names.js'
import type { ListOptions, ToolSource } from '../tool-source.js'
import { listDefinitions, type McpToolDefinition } from './list-definitions.js'
import { openTokenStore, type TokenSettings } from './oauth/open-token-store.js'
import { withLogin } from './oauth/login-of-source.js'
import { ServerConnection, type ServerConnectionOptions } from './server-connection.js'
import type { ParsedMcpServer } from './server-options.js'
import { toTool } from './to-tool.js'

export interface McpSourceOptions extends Omit<ServerConnectionOptions, 'log' | 'tokens'> {
  /** Where the access to servers with `oauth` is kept. Undefined: such servers are reached without. */
  readonly tokenSettings?: TokenSettings
}

/** The tools of one server. */
export function mcpSource({ tokenSettings, ...options }: McpSourceOptions): ToolSource {
  const { name, server } = options
  let connection: ServerConnection | undefined
  const oauth = 'url' in server && server.oauth && tokenSettings
  const access = oauth ? openTokenStore(name, server.url, oauth) : undefined
  const source: ToolSource = {
    name: `MCP server ${name}`,
    async list({ signal, log }: ListOptions): Promise<readonly Tool[]> {
      const opened = new ServerConnection({ ...options, log, tokens: access?.tokens })
      connection = opened
      const { definitions, problems } = await listDefinitions(await opened.client(signal), signal).catch(
        (thrown: unknown) => {
          throw new Error(opened.redact(messageOf(thrown)))
        },
      )
      const chosen = definitions.filter((definition) => isAllowed(definition.name, server))
      const listed = definitions.map((definition) => definition.name)
      checkOptions(name, server, listed)
      const names = sourceToolNames(
        name,
        listed.map((tool) => ({ key: tool, name: tool })),
      )
      const left = [...problems]
      const tools = chosen.flatMap((definition) => {
        const made = makeTool(definition, () =>
          toTool(definition, { toolName: names.get(definition.name) ?? '', server, connection: opened }),
        )
        if (typeof made !== 'string') return [made]
        left.push(made)
        return []
      })
      for (const problem of left)
        log.warn(opened.redact(`MCP server ${name}: left out ${truncateEnd(toOneLine(problem), 500)}`))
      return tools
    },
    async close() {
      await connection?.close()
      await access?.close()
    },
  }
  return access ? withLogin(source, { ...options, ...access }) : source
}

/** Milliseconds of processor time for the schemas of a tool. */
const maxReadMs = 2_000

/** Returns a tool, or why it is left out. */
function makeTool({ name, execution }: McpToolDefinition, make: () => Tool): Tool | string {
  if (execution?.taskSupport === 'required') return `${name}: it runs only as a task`
  try {
    return withTimeLimit(make, maxReadMs)
  } catch (thrown) {
    return `${name}: ${messageOf(thrown)}`
  }
}

function isAllowed(tool: string, { allow }: ParsedMcpServer): boolean {
  return allow === undefined || matchesAny(tool, allow)
}

/** @throws PtcError CONFIG_INVALID for options of tools that the server does not have */
function checkOptions(name: string, { allow = [], tools }: ParsedMcpServer, known: readonly string[]): void {
  const unknown = unmatchedPattern([...allow, ...Object.keys(tools)], known)
  if (unknown === undefined) return
  throw new PtcError('CONFIG_INVALID', `MCP server ${name} has no tool ${JSON.stringify(unknown)}`, {
    hint: `It has: ${known.join(', ')}.`,
  })
}
