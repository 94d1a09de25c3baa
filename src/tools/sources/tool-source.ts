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
 * A source whose list changes while runs use it, such as an MCP server, reports the new list (`onChanged`): new runs have
 * it, and a run keeps the tools of its own start, by content: `ToolConfig`s, documentation, signatures and output
 * schemas. Calls find a tool by its name. A call of a tool that has another definition than the run recorded fails with
 * TOOL_CHANGED: always where the source says so (`refusesChanges`), else if its arguments do not fit the new schema. A
 * tool that the source no longer lists stays callable until its worker restarts (live-registry.ts); then it is unknown.
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
  /** Whether this process makes calls of tools: a worker with role `tools` does. */
  readonly callsTools: boolean
  /** The names of tools that agents and rules on data name. */
  readonly namedTools: readonly string[]
  /** Takes the whole list when it has changed after `list` has returned, and before `close` is called. */
  readonly onChanged: (tools: readonly Pick<Tool, 'name'>[]) => void
}

/** For whom tools are listed. */
export interface ListFor {
  readonly callsTools?: boolean
  readonly namedTools?: readonly string[]
  /** Takes all tools when those of a source have changed. Default: changes are ignored. */
  readonly onChanged?: (tools: readonly Tool[]) => void
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
export async function listTools(
  entries: readonly (Tool | ToolSource)[],
  log = noLog,
  { onChanged, callsTools = true, namedTools = [] }: ListFor = {},
): Promise<ListedTools> {
  const used = new DisposableStack()
  const close = (): Promise<void> => used[Symbol.asyncDispose]()
  const changed = new Map<number, readonly Tool[]>()
  let first: readonly (readonly Tool[])[] | undefined
  const latest = (lists: readonly (readonly Tool[])[]) => lists.flatMap((list, index) => changed.get(index) ?? list)
  const results = await Promise.allSettled(
    entries.map((entry, index) => {
      if (!isToolSource(entry)) return Promise.resolve([entry])
      return useSource(entry, used, { log, callsTools, namedTools }, (tools) => {
        changed.set(index, tools)
        if (first) onChanged?.(latest(first))
      })
    }),
  )
  const failed = results.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') {
    // The failure of the list is the cause to report.
    await close().catch(() => undefined)
    throw failed.reason
  }
  first = results.map((result) => (result.status === 'fulfilled' ? result.value : []))
  return { tools: latest(first), close }
}

/** A source that workers of this process use. */
interface SharedSource {
  readonly users: Set<Listener>
  tools: Promise<readonly Tool[]>
}

type Listener = (tools: readonly Tool[]) => void
type SourceOptions = Pick<ListOptions, 'log' | 'callsTools' | 'namedTools'>

const sharedSources = new WeakMap<ToolSource, SharedSource>()
const closing = new WeakMap<ToolSource, Promise<void>>()

function useSource(
  source: ToolSource,
  used: DisposableStack,
  options: SourceOptions,
  listener: Listener,
): Promise<readonly Tool[]> {
  const shared = sharedSources.get(source) ?? shareSource(source, options)
  shared.users.add(listener)
  sharedSources.set(source, shared)
  used.defer(async () => {
    shared.users.delete(listener)
    if (shared.users.size > 0) return
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

function shareSource(source: ToolSource, options: SourceOptions): SharedSource {
  const users = new Set<Listener>()
  const onChanged = (listed: unknown): void => {
    if (users.size === 0) return
    const tools = toolsOf(listed)
    shared.tools = Promise.resolve(tools)
    for (const listener of users) listener(tools)
  }
  const shared: SharedSource = { users, tools: listSource(source, { ...options, onChanged }) }
  return shared
}

/** Includes the start of a server that downloads its package. */
const listMs = 60_000
const closeMs = 5_000

async function listSource(source: ToolSource, options: Omit<ListOptions, 'signal'>): Promise<readonly Tool[]> {
  await closing.get(source)
  return callSource(source, 'did not list its tools', listMs, async (signal) =>
    toolsOf(await source.list({ ...options, signal })),
  )
}

function toolsOf(listed: unknown): readonly Tool[] {
  if (!Array.isArray(listed)) throw new Error('its list is not an array')
  const tools = listed.map((tool: unknown, index) => requireTool(tool, `tool ${index} of its list`))
  return tools.sort((a, b) => (a.name < b.name ? -1 : 1))
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
