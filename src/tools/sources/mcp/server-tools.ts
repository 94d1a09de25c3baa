import { digestJson } from '../../../common/calls/call-identity.js'
import { raceWithSignal } from '../../../common/async/abort.js'
import { messageOf, PtcError } from '../../../common/errors.js'
import type { JsonValue } from '../../../common/json/json.js'
import { toOneLine, truncateEnd } from '../../../common/text/text.js'
import type { Tool } from '../../tool.js'
import { ToolError } from '../../tool-error.js'
import { interruptAfter } from '../../validation/time-limit.js'
import { matchesAny, unmatchedPattern } from '../../../common/text/name-patterns.js'
import { sourceToolNames } from '../source-tool-names.js'
import type { ListOptions } from '../tool-source.js'
import { listDefinitions, type McpToolDefinition } from './list-definitions.js'
import { requestTools } from './requests.js'
import { ServerConnection, type ServerConnectionOptions } from './server-connection.js'
import type { ParsedMcpServer } from './server-options.js'
import { toTool } from './to-tool.js'
import { unavailableTools } from './unavailable-tools.js'

export type ServerToolsOptions = Omit<ServerConnectionOptions, 'log' | 'onListChanged'>

/** Milliseconds of a worker's start for a server without which it starts, too. */
const optionalStartMs = 15_000

/** Milliseconds for a later reading of the list. */
const readMs = 20_000

/** Milliseconds after which a worker that ended the process of a server starts it again to read the list. */
const rereadMs = 10 * 60_000

/** Milliseconds between two readings: a server may report changes without a pause. Doubles after a failure. */
const pauses = { firstMs: 1_000, longestMs: 60_000 } as const

/**
 * The tools of one server, for one list of its source. Reads the list again when the server says that it has changed,
 * when a connection has replaced another, and, for a server that was not available, until it is. A failed reading keeps
 * the tools that there are. A worker that makes no calls has no process that could report a change, and reads the list
 * again after a while: its runs would else record definitions that other workers refuse.
 */
export class ServerTools {
  readonly #options: ServerToolsOptions
  readonly #list: Omit<ListOptions, 'signal'>
  readonly #connection: ServerConnection
  /** Of the definitions that runs have; undefined while the server was never available. */
  #digest: string | undefined
  /** Digests of the definitions of {@link #digest}. */
  #definitions: ReadonlySet<string> = new Set()
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  /** The reading in progress. */
  #reading: Promise<void> | undefined
  /** The list may have changed since it was read. */
  #isStale = false
  #isClosed = false

  constructor(options: ServerToolsOptions, list: Omit<ListOptions, 'signal'>) {
    this.#options = options
    this.#list = list
    const { log } = list
    const onListChanged = (): void => {
      this.#isStale = true
      this.#readLater()
    }
    this.#connection = new ServerConnection({ ...options, log, onListChanged })
  }

  /** @throws Error when a required server is not available; PtcError CONFIG_INVALID */
  async open(signal: AbortSignal): Promise<readonly Tool[]> {
    const { name, server } = this.#options
    const { log, namedTools } = this.#list
    const limit = server.required ? signal : AbortSignal.any([signal, AbortSignal.timeout(optionalStartMs)])
    try {
      const tools = (await this.#read(limit)) ?? []
      if (this.#isEndedAfterReading) this.#readLater(rereadMs)
      return tools
    } catch (thrown) {
      if (server.required || PtcError.isInstance(thrown)) throw thrown
      const reason = truncateEnd(toOneLine(messageOf(thrown)), 500)
      log.warn(`MCP server ${name} is not required, and not available: runs start without its tools: ${reason}`)
      this.#failures = 1
      this.#readLater()
      return unavailableTools(name, namedTools)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#connection.close()
  }

  /** A process is kept where calls need it. */
  get #isEndedAfterReading(): boolean {
    return !this.#list.callsTools && 'command' in this.#options.server
  }

  /** Reads the list once for all reports of a moment. */
  #readLater(pauseMs = Math.min(pauses.firstMs * 2 ** this.#failures, pauses.longestMs)): void {
    if (this.#isClosed || this.#reading || this.#timer !== undefined) return
    this.#timer = setTimeout(() => void this.#readNow(), pauseMs)
    this.#timer.unref()
  }

  /**
   * Refuses a call of a definition that the server no longer has. Reads the list first if the server has reported a
   * change, or was connected anew; a list that can't be read is that of before.
   *
   * @throws ToolError; the reason of the signal
   */
  async #verify(definition: McpToolDefinition, signal: AbortSignal): Promise<void> {
    const hasChanged = this.#isStale || this.#reading !== undefined
    if (!hasChanged || this.#failures > 0) return
    await raceWithSignal(signal, this.#readNow())
    if (this.#definitions.has(digestOf(definition))) return
    throw new ToolError(
      `${definition.name} was changed or removed by its server. Start a new run, which has its tools.`,
    )
  }

  #readNow(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#reading ??= this.#readAgain().finally(() => {
      this.#reading = undefined
      if (this.#isStale) this.#readLater()
      else if (this.#isEndedAfterReading) this.#readLater(rereadMs)
    })
    return this.#reading
  }

  async #readAgain(): Promise<void> {
    const { name } = this.#options
    const { log, onChanged } = this.#list
    this.#isStale = false
    try {
      const tools = await this.#read(AbortSignal.timeout(readMs))
      this.#failures = 0
      if (tools === undefined || this.#isClosed) return
      log.info(`MCP server ${name}: new runs have its list of ${tools.length} tools`)
      onChanged(tools)
    } catch (thrown) {
      this.#failures += 1
      this.#isStale = true
      const reason = truncateEnd(toOneLine(this.#connection.redact(messageOf(thrown))), 500)
      const line = `MCP server ${name}: its list of tools was not read again, and new runs have that of before: ${reason}`
      if (this.#failures === 1) log.warn(line)
      else log.debug(line)
    }
  }

  /** Returns undefined when the list has not changed. */
  async #read(signal: AbortSignal): Promise<readonly Tool[] | undefined> {
    const { name, server } = this.#options
    const connection = this.#connection
    const client = await connection.client(signal)
    // This list has the changes that were reported until now, and those of a connection that was opened for it.
    this.#isStale = false
    const { definitions, problems } = await listDefinitions(client, signal).catch((thrown: unknown) => {
      throw new Error(connection.redact(messageOf(thrown)))
    })
    const requests = requestTools(client.getServerCapabilities())
    if (this.#isEndedAfterReading && !connection.isBusy) await connection.close()
    const all = [...definitions, ...requests]
    const digest = digestOf(all)
    if (digest === this.#digest) return undefined
    checkOptions(
      name,
      server,
      all.map((definition) => definition.name),
    )
    const left = [...problems]
    const names = toolNames(name, definitions, requests)
    const verify = (definition: McpToolDefinition, callSignal: AbortSignal) => this.#verify(definition, callSignal)
    const tools = all.flatMap((definition) => {
      if (!isAllowed(definition.name, server)) return []
      const made = makeTool(definition, () =>
        toTool(definition, { toolName: names.get(definition) ?? '', server, connection, verify }),
      )
      if (typeof made !== 'string') return [made]
      left.push(made)
      return []
    })
    for (const problem of left)
      this.#list.log.warn(connection.redact(`MCP server ${name}: left out ${truncateEnd(toOneLine(problem), 500)}`))
    this.#digest = digest
    this.#definitions = new Set(all.map(digestOf))
    return tools
  }
}

function digestOf(definitions: McpToolDefinition | readonly McpToolDefinition[]): string {
  return digestJson(definitions as unknown as JsonValue)
}

/** Tools of the server keep their names when a tool for a request has the name of one. */
function toolNames(
  source: string,
  definitions: readonly McpToolDefinition[],
  requests: readonly McpToolDefinition[],
): ReadonlyMap<McpToolDefinition, string> {
  const own = definitions.map((definition) => ({ key: definition.name, name: definition.name }))
  const others = requests.map(({ name }) => ({ key: `request ${name}`, name }))
  const ownNames = sourceToolNames(source, own)
  const allNames = sourceToolNames(source, [...own, ...others])
  return new Map([
    ...definitions.map((definition) => [definition, ownNames.get(definition.name) ?? ''] as const),
    ...requests.map((definition) => [definition, allNames.get(`request ${definition.name}`) ?? ''] as const),
  ])
}

/** Milliseconds of processor time for the schemas of a tool. */
const maxReadMs = 2_000

/** Returns a tool, or why it is left out. */
function makeTool({ name, execution }: McpToolDefinition, make: () => Tool): Tool | string {
  if (execution?.taskSupport === 'required') return `${name}: it runs only as a task`
  try {
    return interruptAfter(make, maxReadMs)
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
