import { defaultLimits } from '../../../src/common/run/limits.js'
import { serverContainers } from '../../../src/config/server-containers.js'
import type { Tool, ToolContext } from '../../../src/index.js'
import { Credentials } from '../../../src/tools/credentials/credentials.js'
import { mcpSource } from '../../../src/tools/sources/mcp/mcp-source.js'
import { mcpOption } from '../../../src/tools/sources/mcp/server-options.js'
import { type ListedTools, type ListFor, listTools, noLog } from '../../../src/tools/sources/tool-source.js'

interface McpTestOptions extends ListFor {
  readonly credentials?: Credentials
  /** Base of relative paths. */
  readonly folder?: string
  readonly log?: typeof noLog
}

/** Containers of the sandbox image. */
const openContainer = serverContainers({ limits: defaultLimits })

/** Lists the tools of one server, as a worker does. */
export function listMcpTools(
  name: string,
  options: Readonly<Record<string, unknown>>,
  { credentials = new Credentials(), folder = '.', log = noLog, ...listFor }: McpTestOptions = {},
): Promise<ListedTools> {
  const server = mcpOption.parse({ [name]: options })[name]
  if (server === undefined) throw new Error(`there is no server ${name}`)
  return listTools([mcpSource({ name, server, credentials, folder, openContainer })], log, listFor)
}

/** Makes one attempt of a call, with idempotency key `key-1`. */
export async function callMcpTool(
  tools: readonly Tool[],
  name: string,
  args: Readonly<Record<string, unknown>>,
  context: Partial<Pick<ToolContext, 'signal' | 'milestone'>> = {},
): Promise<unknown> {
  const tool = tools.find((each) => each.name === name)
  if (tool === undefined) throw new Error(`there is no tool ${name}`)
  const ignored = (): void => undefined
  const { signal } = new AbortController()
  const own: Partial<ToolContext> = {
    signal,
    idempotencyKey: 'key-1',
    milestone: ignored,
    heartbeat: ignored,
    ...context,
  }
  return tool.run(args, own as ToolContext)
}
