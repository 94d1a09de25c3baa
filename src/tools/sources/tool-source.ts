/*
 * Sources of tools: entries of `tools` in the configuration that list tools, and the client of a run (client-tools.ts).
 *
 * Owns: how sources list tools and are closed, how a run records its tools, and how a worker finds them again
 * (tool-set.ts).
 * Boundary: a source makes tools, in its own file or folder. Registry, documentation, activities and workflow see only
 * tools and their `ToolConfig`, and never which source a tool is from.
 *
 * Invariants:
 * 1. A tool says how its calls are executed: `run` in an activity, `deferred` from outside, `remote` by another worker,
 *    or by the client of the run. A workflow chooses the executor by these members of the recorded `ToolConfig`.
 * 2. A source lists the same tools in each process that has the same configuration or the same record of a run. They
 *    are in the order of their names, whatever order a server has. The digest of the registry tells a difference.
 * 3. A process lists a source once for all workers that use it, and closes it when the last of them has ended. It never
 *    lists and closes a source at the same time. Only workers and `ptc doctor` list sources.
 *
 * A source whose list changes while runs use it, such as an MCP server: a worker has the tools that the source listed at
 * its start, and a run those of its own start, by content: `ToolConfig`s, documentation, signatures and output schemas.
 * Calls find a tool by its name. After a restart of the worker, a tool that the source no longer lists is unknown, and
 * arguments are checked by the new schema (TOOL_CHANGED).
 */
import { raceWithTimeLimit } from '../../common/async/abort.js'
import { DisposableStack } from '../../common/async/disposable-stack.js'
import { defined } from '../../common/defined.js'
import { messageOf, PtcError } from '../../common/errors.js'
import { isTool, requireTool, type Tool } from '../tool.js'
import type { ToolLog } from '../tool-context.js'

/** Lists tools, such as those of a server. */
export interface ToolSource {
  /** For messages, such as `mcp github`. */
  readonly name: string
  /**
   * Lists tools that `defineTool` made. A worker does this when it starts, and does not start when it fails. May be
   * called again after {@link close}.
   */
  list(options: ListOptions): Promise<readonly Pick<Tool, 'name'>[]> | readonly Pick<Tool, 'name'>[]
  /**
   * Ends what `list` started, such as a child process: when the worker has ended, and when `list` has failed. Does
   * nothing when nothing is open.
   */
  close?(): Promise<void> | void
}

export interface ListOptions {
  /** Aborted after 60 seconds. */
  readonly signal: AbortSignal
  /** The log of the worker. */
  readonly log: ToolLog
}

/** Tools of sources and of others, in the order of the configuration. */
export interface ListedTools {
  readonly tools: readonly Tool[]
  /** Closes the sources that nothing else in this process uses. Idempotent. */
  readonly close: () => Promise<void>
}

export function isToolSource(value: unknown): value is ToolSource {
  const hasList = typeof value === 'object' && value !== null && 'list' in value && typeof value.list === 'function'
  return hasList && !isTool(value)
}

/** For a list without a worker. */
export const noLog: ToolLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}

/** @throws PtcError TOOL_SOURCE_FAILED with the name of the source; then all sources are closed */
export async function listTools(entries: readonly (Tool | ToolSource)[], log = noLog): Promise<ListedTools> {
  const used = new DisposableStack()
  const close = (): Promise<void> => used[Symbol.asyncDispose]()
  const results = await Promise.allSettled(
    entries.map((entry) => (isToolSource(entry) ? useSource(entry, used, log) : Promise.resolve([entry]))),
  )
  const failed = results.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') {
    // The failure of the list is the cause to report.
    await close().catch(() => undefined)
    throw failed.reason
  }
  return { tools: results.flatMap((result) => (result.status === 'fulfilled' ? result.value : [])), close }
}

/** A source that workers of this process use. */
interface SharedSource {
  users: number
  readonly tools: Promise<readonly Tool[]>
}

const sharedSources = new WeakMap<ToolSource, SharedSource>()
const closing = new WeakMap<ToolSource, Promise<void>>()

function useSource(source: ToolSource, used: DisposableStack, log: ToolLog): Promise<readonly Tool[]> {
  const shared = sharedSources.get(source) ?? { users: 0, tools: listSource(source, log) }
  shared.users += 1
  sharedSources.set(source, shared)
  used.defer(async () => {
    shared.users -= 1
    if (shared.users > 0) return
    sharedSources.delete(source)
    const closed = closeSource(source)
    closing.set(
      source,
      closed.catch(() => undefined),
    )
    await closed
  })
  return shared.tools
}

/** Includes the start of a server that downloads its package. */
const listMs = 60_000
const closeMs = 5_000

async function listSource(source: ToolSource, log: ToolLog): Promise<readonly Tool[]> {
  await closing.get(source)
  return callSource(source, 'did not list its tools', listMs, async (signal) => {
    const listed: unknown = await source.list({ signal, log })
    if (!Array.isArray(listed)) throw new Error('its list is not an array')
    const tools = listed.map((tool: unknown, index) => requireTool(tool, `tool ${index} of its list`))
    return tools.sort((a, b) => (a.name < b.name ? -1 : 1))
  })
}

function closeSource(source: ToolSource): Promise<void> {
  return callSource(source, 'did not close', closeMs, async () => source.close?.())
}

/** @param failure completes the message of the error after the name of the source */
async function callSource<Result>(
  source: ToolSource,
  failure: string,
  milliseconds: number,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  try {
    return await raceWithTimeLimit(undefined, milliseconds, call)
  } catch (cause) {
    const hint = PtcError.isInstance(cause) ? cause.hint : undefined
    const message = `tool source ${source.name} ${failure}: ${messageOf(cause)}`
    throw new PtcError('TOOL_SOURCE_FAILED', message, { cause, ...defined({ hint }) })
  }
}
