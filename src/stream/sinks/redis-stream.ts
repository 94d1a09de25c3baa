import type { RedisClientType } from '@redis/client'
import { withTimeLimit, rejectOnAbort } from '../../common/async/abort.js'
import { messageOf, PtcError } from '../../common/errors.js'
import type { Duration } from '../../common/text/duration.js'
import { type StreamEntry, type StreamReader, type StreamSink, expiryMs } from '../sink.js'

export interface RedisStreamOptions {
  /** `redis://…`, or `rediss://…` for TLS; with user and password when the server needs them. */
  readonly url: string
  /** Time without new entries after which the stream of a run is removed. Default 1 day. */
  readonly expires?: Duration
  /** Approximate number of entries that the stream of a run keeps; it loses the oldest ones. Default 10,000. */
  readonly maxEntries?: number
  /** Prefix of each key. Default `ptc:stream:`. */
  readonly prefix?: string
}

type Settings = Required<Omit<RedisStreamOptions, 'expires'>> & { readonly expiresMs: number }

const requestTimeoutMs = 5_000
const maxEntriesPerRead = 500
/** The name of the only field of an entry. */
const field = 'e'

/**
 * Streams in Redis 6.2 or later, or a server that speaks its protocol, such as Valkey: for fleets. Needs the package
 * `@redis/client`.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function redisStream(options: RedisStreamOptions): StreamSink {
  const { url, expires, maxEntries = 10_000, prefix = 'ptc:stream:' } = options
  if (!/^rediss?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    throw new PtcError('CONFIG_INVALID', 'the `url` of the stream must begin with redis:// or rediss://')
  }
  if (!Number.isSafeInteger(maxEntries) || maxEntries < 1) {
    throw new PtcError('CONFIG_INVALID', 'the `maxEntries` of the stream must be a positive integer')
  }
  return new RedisStream({ url, maxEntries, prefix, expiresMs: expiryMs(expires) })
}

class RedisStream implements StreamSink {
  readonly #settings: Settings
  readonly #connection: RedisConnection

  constructor(settings: Settings) {
    this.#settings = settings
    this.#connection = new RedisConnection(settings.url)
  }

  async append(stream: string, entries: readonly string[]): Promise<void> {
    const { prefix, maxEntries, expiresMs } = this.#settings
    const key = prefix + stream
    const TRIM = { strategy: 'MAXLEN', strategyModifier: '~', threshold: maxEntries } as const
    await this.#connection.request(requestTimeoutMs, async (client) => {
      // A transaction: when one entry is refused, none is added, and the order is kept.
      const commands = client.multi()
      for (const entry of entries) commands.xAdd(key, '*', { [field]: entry }, { TRIM })
      await commands.pExpire(key, expiresMs).exec()
    })
  }

  async remove(stream: string): Promise<void> {
    await this.#connection.request(requestTimeoutMs, (client) => client.del(this.#settings.prefix + stream))
  }

  reader(stream: string): StreamReader {
    // XREAD blocks its connection.
    return new RedisReader(new RedisConnection(this.#settings.url), this.#settings.prefix + stream)
  }

  close(): Promise<void> {
    return this.#connection.close()
  }
}

interface RedisMessage {
  readonly id: string
  readonly message: Readonly<Record<string, string>>
}

class RedisReader implements StreamReader {
  readonly #connection: RedisConnection
  readonly #key: string

  constructor(connection: RedisConnection, key: string) {
    this.#connection = connection
    this.#key = key
  }

  async read(id: string | undefined, waitMs: number): Promise<readonly StreamEntry[]> {
    const from = { key: this.#key, id: id ?? '0' }
    // With 0, Redis waits without a limit.
    const options = { COUNT: maxEntriesPerRead, ...(waitMs > 0 && { BLOCK: Math.ceil(waitMs) }) }
    const [read] = await this.#connection.request(
      requestTimeoutMs + waitMs,
      async (client) => (await client.xRead(from, options)) ?? [],
    )
    const messages: readonly RedisMessage[] = read?.messages ?? []
    return messages.map((entry) => ({ id: entry.id, text: entry.message[field] ?? '' }))
  }

  close(): Promise<void> {
    return this.#connection.close()
  }
}

/** A connection. The first request opens it, and so does the first request after a failure. */
class RedisConnection {
  readonly #url: string
  #client: Promise<RedisClientType> | undefined

  constructor(url: string) {
    this.#url = url
  }

  /** @throws the error of Redis or of the connection, or a timeout */
  async request<Result>(timeoutMs: number, send: (client: RedisClientType) => Promise<Result>): Promise<Result> {
    const opening = (this.#client ??= connect(this.#url))
    try {
      return await withTimeLimit(undefined, timeoutMs, (signal) =>
        Promise.race([opening.then(send), rejectOnAbort(signal)]),
      )
    } catch (thrown) {
      // A request may still be in progress. It must not run after later requests.
      if (this.#client === opening) this.#client = undefined
      destroy(opening)
      throw thrown
    }
  }

  close(): Promise<void> {
    const opening = this.#client
    this.#client = undefined
    if (opening) destroy(opening)
    return Promise.resolve()
  }
}

/** Drops requests in progress. */
function destroy(opening: Promise<RedisClientType>): void {
  opening.then(
    (client) => client.isOpen && client.destroy(),
    () => undefined,
  )
}

async function connect(url: string): Promise<RedisClientType> {
  const { createClient } = await loadRedis()
  const socket = { connectTimeout: requestTimeoutMs, reconnectStrategy: false } as const
  const client: RedisClientType = createClient({ url, socket, disableOfflineQueue: true })
  // Requests report the errors. Without a listener an error would end the process.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

async function loadRedis() {
  try {
    return await import('@redis/client')
  } catch (cause) {
    throw new PtcError('CONFIG_INVALID', `@redis/client can't be loaded: ${messageOf(cause)}`, {
      hint: 'npm install @redis/client',
      cause,
    })
  }
}
