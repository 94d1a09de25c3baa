import path from 'node:path'
import type * as Sdk from '@modelcontextprotocol/client'
import type { Client, Transport } from '@modelcontextprotocol/client'
import { raceWithSignal, withTimeLimit } from '../../../common/async/abort.js'
import { pauseAfter } from '../../../common/async/growing-pause.js'
import { defined } from '../../../common/defined.js'
import { messageOf } from '../../../common/errors.js'
import { formatDuration } from '../../../common/text/duration.js'
import { toOneLine, truncateEnd } from '../../../common/text/text.js'
import { packageInfo } from '../../../platform/package-info.js'
import { type Credentials, noRun } from '../../credentials/credentials.js'
import { Redactor } from '../../credentials/redactor.js'
import type { ToolLog } from '../../tool-context.js'
import { fillCredentials, withCredentials } from '../credential-references.js'
import { type Authorization, authorizationFor } from './oauth/authorization.js'
import type { TokenStore } from './oauth/token-store.js'
import { InteractiveConnection } from './interaction/interactive-connection.js'
import { boundedFetch } from './bounded-fetch.js'
import { ContainerTransport, type OpenContainer } from './container-transport.js'
import { ProcessTransport } from './process-transport.js'
import { credentialsIn, type ParsedMcpServer } from './server-options.js'

export interface ServerConnectionOptions {
  readonly name: string
  readonly server: ParsedMcpServer
  readonly credentials: Credentials
  /** Base of the relative working folder of a process. */
  readonly folder: string
  /** For servers with `sandboxed`. */
  readonly openContainer: OpenContainer
  readonly log: ToolLog
  /** Called when the server says that its tools have changed, and when a connection has replaced an ended one. */
  readonly onListChanged: () => void
  /** The access that people have given. Only for a server with `oauth`. */
  readonly tokens?: TokenStore | undefined
}

/** Includes the start of a process that downloads its package. */
const connectMs = 60_000

/** Pause after a failed connection, and after the end of a short one. It doubles from the first to the longest. */
const pauses = { firstMs: 500, longestMs: 30_000 } as const

/** A connection that lasts longer than this was a good one. */
const stableMs = 10_000

/** Lines of a server that are logged. */
const maxLogLines = 200

/** A failed connection to a server: no request was sent. */
export class ServerUnavailableError extends Error {
  override readonly name = 'ServerUnavailableError'
}

/**
 * The connection of this process to one server: opened by the first request, shared by all, and opened again by the
 * next request after it has ended. A server that ends at once is started again after growing pauses.
 */
export class ServerConnection {
  /** Names the server. */
  readonly from: string
  /** Makes the calls of a server that may ask people, or the model of the run. Undefined: it may ask nobody. */
  readonly asking: InteractiveConnection | undefined
  readonly #options: ServerConnectionOptions
  #client: Promise<Client> | undefined
  #connected: Client | undefined
  #failures = 0
  #pausedUntil = 0
  #lastError: unknown
  #transportError: Error | undefined
  #redactor = new Redactor()
  #authorization: Authorization | undefined
  #clientSecret = ''
  #isClosed = false
  #logLines = 0
  #wasConnected = false
  /** Number of requests in progress. */
  readonly #requests = new WeakMap<Client, number>()
  /** Clients that are closed after the last of their requests. */
  readonly #forgotten = new Set<Client>()
  readonly #logReaders = new Set<(line: string) => void>()

  constructor(options: ServerConnectionOptions) {
    this.#options = options
    this.from = `MCP server ${options.name}`
    const { elicitation, sampling } = options.server
    const allowed = { elicitation: elicitation === 'ask', sampling: sampling !== undefined }
    if (allowed.elicitation || allowed.sampling) this.asking = new InteractiveConnection(this.from, allowed)
  }

  /**
   * Returns the connected client.
   *
   * @throws ServerUnavailableError; the reason of the signal
   */
  client(signal: AbortSignal): Promise<Client> {
    return raceWithSignal(signal, this.#connectOnce())
  }

  /** A text of the server, or about it, without the values of its credentials. */
  readonly redact = (text: string): string => this.#redactor.text(this.#tokenRedactor.text(text))

  /** A value of the server without the values of its credentials. */
  redactAll<Value>(value: Value): Value {
    return this.#redactor.any(this.redactTokens(value))
  }

  /** A value of the server without the tokens of OAuth, which no tool declares as a credential. */
  redactTokens<Value>(value: Value): Value {
    return this.#tokenRedactor.any(value)
  }

  get #tokenRedactor(): Redactor {
    return new Redactor(this.#authorization?.secrets)
  }

  /** Whether a request is in progress. */
  get isBusy(): boolean {
    return this.#logReaders.size > 0
  }

  /** Why the last connection has ended. */
  get endReason(): Error {
    const cause = this.#transportError
    return new Error(`its connection has ended${cause ? `: ${this.redact(cause.message)}` : ''}`)
  }

  /**
   * Sends a request by a client, which stays open until the last of its requests has its answer. `readLog` gets what
   * the server logs while the request is the only one in progress: of several, none is known to be the cause.
   */
  async use<Result>(
    client: Client,
    request: (client: Client) => Promise<Result>,
    readLog: (line: string) => void,
  ): Promise<Result> {
    this.#requests.set(client, (this.#requests.get(client) ?? 0) + 1)
    this.#logReaders.add(readLog)
    try {
      return await request(client)
    } finally {
      this.#logReaders.delete(readLog)
      this.#requests.set(client, (this.#requests.get(client) ?? 1) - 1)
      await this.#closeForgotten(client)
    }
  }

  /**
   * Forgets a client whose session the server does not know: the next request opens a new one. Other requests of the
   * client may still get their answers.
   */
  async forget(client: Client): Promise<void> {
    if (this.#connected !== client) return
    this.#connected = undefined
    this.#client = undefined
    this.#forgotten.add(client)
    await this.#closeForgotten(client)
  }

  async #closeForgotten(client: Client): Promise<void> {
    if (!this.#forgotten.has(client) || (this.#requests.get(client) ?? 0) > 0) return
    this.#forgotten.delete(client)
    await client.close().catch(() => undefined)
  }

  /** Ends the connection, and the process of the server. Idempotent; a later request connects again. */
  async close(): Promise<void> {
    this.#isClosed = true
    const client = await this.#client?.catch(() => undefined)
    this.#client = undefined
    await client?.close()
    for (const forgotten of this.#forgotten) await forgotten.close().catch(() => undefined)
    this.#forgotten.clear()
    this.#isClosed = false
  }

  #connectOnce(): Promise<Client> {
    if (this.#client) return this.#client
    const waitMs = this.#pausedUntil - performance.now()
    const { name } = this.#options
    if (waitMs > 0) {
      const next = `it is tried again in ${formatDuration(Math.ceil(waitMs))}`
      return Promise.reject(
        new ServerUnavailableError(`MCP server ${name} is not available: ${messageOf(this.#lastError)}; ${next}`),
      )
    }
    const client = this.#connect()
    this.#client = client
    client.catch((thrown: unknown) => {
      if (this.#client === client) this.#client = undefined
      this.#pause(thrown)
    })
    return client
  }

  async #connect(): Promise<Client> {
    const { name, server, log } = this.#options
    try {
      return await withTimeLimit(undefined, connectMs, async (signal) => {
        try {
          return await raceWithSignal(signal, this.#open('auto', signal))
        } catch (thrown) {
          // Some servers end at a request before `initialize`, which is how a client asks for newer protocols.
          if (!('command' in server) || signal.aborted || this.#isClosed) throw thrown
          return await raceWithSignal(signal, this.#open('legacy', signal))
        }
      })
    } catch (thrown) {
      const reason = truncateEnd(toOneLine(this.redact(messageOf(thrown))), 500)
      log.warn(`MCP server ${name}: ${reason}`)
      throw new ServerUnavailableError(`MCP server ${name} is not available: ${reason}`, { cause: thrown })
    }
  }

  async #open(mode: 'auto' | 'legacy', signal: AbortSignal): Promise<Client> {
    const { name, log, onListChanged } = this.#options
    const sdk = await import('@modelcontextprotocol/client')
    const client = new sdk.Client(
      { name: 'durable-ptc', version: packageInfo().version },
      {
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onListChanged } },
        capabilities: this.asking?.capabilities ?? {},
        versionNegotiation: { mode },
        inputRequired: { autoFulfill: false },
      },
    )
    this.asking?.handle(client)
    const transport = await this.#transport(sdk, signal, (error) => {
      this.#transportError = error
      void client.close()
    })
    const startedAt = performance.now()
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has only these members
    client.onerror = (error) => {
      this.#transportError = error
      this.#logLine(error.message)
    }
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- as above
    client.onclose = () => this.#onClose(client, startedAt)
    client.setNotificationHandler('notifications/message', ({ params: { level, data } }) => {
      const text = typeof data === 'string' ? data : JSON.stringify(data)
      this.#logLine(`${level}: ${text}`)
      const [reader] = this.#logReaders
      if (this.#logReaders.size === 1 && level !== 'debug') reader?.(text)
    })
    try {
      await client.connect(transport, { signal, timeout: connectMs })
    } catch (thrown) {
      await client.close().catch(() => undefined)
      await transport.close().catch(() => undefined)
      throw thrown
    }
    this.#connected = client
    this.#transportError = undefined
    if (this.#wasConnected) onListChanged()
    this.#wasConnected = true
    log.info(`MCP server ${name} is connected`, { ...client.getServerVersion() })
    return client
  }

  async #transport(sdk: typeof Sdk, signal: AbortSignal, onTooLarge: (error: Error) => void): Promise<Transport> {
    const { name, server, credentials, folder, openContainer } = this.#options
    const request = { tool: `MCP server ${name}`, ...noRun }
    const { values, redactor } = await credentials.resolve(credentialsIn(server), request, 1, signal)
    this.#redactor = redactor
    if ('url' in server) {
      const authProvider = this.#authorize(sdk, server, values)
      return new sdk.StreamableHTTPClientTransport(new URL(server.url), {
        ...defined({ authProvider }),
        requestInit: { headers: withCredentials(server.headers, values) },
        fetch: boundedFetch(onTooLarge),
      })
    }
    const { command, args, sandboxed } = server
    const env = withCredentials(server.env, values)
    const onLine = (line: string): void => this.#logLine(line)
    if (sandboxed) {
      const open = () => openContainer({ name, command, args, env }, signal)
      return new ContainerTransport({ open, onLine }, sdk.deserializeMessage)
    }
    const cwd = path.resolve(folder, server.cwd ?? '.')
    return new ProcessTransport({ command, args, env, cwd, onLine }, sdk.deserializeMessage)
  }

  #authorize(
    sdk: typeof Sdk,
    { url, oauth }: Extract<ParsedMcpServer, { readonly url: string }>,
    credentials: ReadonlyMap<string, string>,
  ): Authorization | undefined {
    const { name, tokens } = this.#options
    if (oauth === undefined || tokens === undefined) return undefined
    const clientSecret = fillCredentials(oauth.clientSecret ?? '', (each) => credentials.get(each) ?? '')
    const server = { name, url, oauth, tokens, clientSecret: clientSecret === '' ? undefined : clientSecret }
    // A secret may have been replaced since the last connection.
    if (clientSecret !== this.#clientSecret) this.#authorization = undefined
    this.#clientSecret = clientSecret
    this.#authorization ??= authorizationFor(sdk, server)
    return this.#authorization
  }

  #onClose(client: Client, startedAt: number): void {
    if (this.#isClosed || performance.now() - startedAt > stableMs) this.#failures = 0
    if (this.#connected !== client) return
    this.#connected = undefined
    this.#client = undefined
    if (this.#isClosed) return
    this.#pause(this.endReason)
    this.#options.log.warn(`MCP server ${this.#options.name}: ${this.endReason.message}`)
  }

  #pause(cause: unknown): void {
    this.#lastError = cause
    this.#pausedUntil = performance.now() + pauseAfter(this.#failures, pauses)
    this.#failures += 1
  }

  /** Logs what a server writes: bounded, because a server may write without end. */
  #logLine(line: string): void {
    this.#logLines += 1
    if (this.#logLines > maxLogLines) return
    const { name, log } = this.#options
    const isLast = this.#logLines === maxLogLines
    log.debug(`MCP server ${name}: ${isLast ? 'more lines are not logged' : truncateEnd(this.redact(line), 500)}`)
  }
}
