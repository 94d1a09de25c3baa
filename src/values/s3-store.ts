import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { checkedPieces, corrupt, isKey, missing, requireKey } from './content.js'
import { isAbsent, s3Error } from './s3-errors.js'
import type { S3StoreSettings } from './settings.js'
import { spool, type Spooled } from './spool.js'
import type { StoredContent, ValueStat, ValueStore } from './store.js'

/** What is bigger is sent in parts of this size, two at a time: so much is in memory. */
const partBytes = 8 * 1024 * 1024
/** What S3 copies in one request. */
const copyBytes = 5 * 1024 ** 3
const connectMs = 5_000
const silenceMs = 30_000

/** Values as objects of a bucket of S3, or of a server that speaks it; many machines may share it. */
export class S3Store implements ValueStore {
  readonly description: string
  readonly #client: S3Client
  readonly #bucket: string
  readonly #prefix: string

  /** @param silence milliseconds after which a connection that is silent is given up */
  constructor({ bucket, prefix, region, endpoint, forcePathStyle }: S3StoreSettings, silence = silenceMs) {
    this.#bucket = bucket
    this.#prefix = prefix
    this.description = `the bucket ${bucket}${prefix === '' ? '' : `/${prefix}`}${endpoint === undefined ? '' : ` at ${withoutSecrets(endpoint)}`}`
    this.#client = new S3Client({
      forcePathStyle,
      // We check every read against its key; a second checksum would only tell less clearly.
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: connectMs, socketTimeout: silence },
      ...(region === undefined ? {} : { region }),
      ...(endpoint === undefined ? {} : { endpoint }),
    })
  }

  async put(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, signal: AbortSignal): Promise<StoredContent> {
    await using spooled = await spool(content, signal)
    const { sha256, bytes } = spooled.stored
    // One request is all that a small one costs, whether it is there or not.
    const there = bytes > partBytes && bytes <= copyBytes ? await this.stat(sha256, signal) : undefined
    if (there?.bytes !== bytes || !(await this.#touch(there, signal))) await this.#upload(spooled, signal)
    return spooled.stored
  }

  async *read(content: StoredContent, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const pieces = this.#piecesOf(content, signal)
    yield* checkedPieces(pieces, content)
  }

  async stat(sha256: string, signal: AbortSignal): Promise<ValueStat | undefined> {
    const command = new HeadObjectCommand(this.#place(sha256))
    try {
      const { ContentLength, LastModified } = await this.#client.send(command, { abortSignal: signal })
      return { sha256, bytes: ContentLength ?? 0, usedAt: LastModified?.getTime() ?? 0 }
    } catch (thrown) {
      if (isAbsent(thrown)) return undefined
      throw this.#error(thrown, signal)
    }
  }

  async *list(signal: AbortSignal): AsyncGenerator<ValueStat, void, undefined> {
    const pages = paginateListObjectsV2({ client: this.#client }, { Bucket: this.#bucket, Prefix: this.#prefix })
    try {
      for await (const { Contents = [] } of pages) {
        signal.throwIfAborted()
        for (const { Key = '', Size = 0, LastModified } of Contents) {
          const sha256 = Key.slice(this.#prefix.length)
          if (isKey(sha256)) yield { sha256, bytes: Size, usedAt: LastModified?.getTime() ?? 0 }
        }
      }
    } catch (thrown) {
      throw this.#error(thrown, signal)
    }
  }

  /** S3 has no way to remove only what is old: between the look and the removal is the time of one request. */
  async remove(sha256: string, signal: AbortSignal, unusedSince?: number): Promise<boolean> {
    const found = await this.stat(sha256, signal)
    if (found === undefined || (unusedSince !== undefined && found.usedAt > unusedSince)) return false
    await this.#send(
      () => this.#client.send(new DeleteObjectCommand(this.#place(sha256)), { abortSignal: signal }),
      signal,
    )
    return true
  }

  close(): Promise<void> {
    this.#client.destroy()
    return Promise.resolve()
  }

  #place(sha256: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + requireKey(sha256) }
  }

  async #upload({ stored, body }: Spooled, signal: AbortSignal): Promise<void> {
    const abortController = new AbortController()
    const abort = (): void => abortController.abort(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    const params = { ...this.#place(stored.sha256), Body: body, ContentType: 'application/octet-stream' }
    try {
      signal.throwIfAborted()
      const upload = new Upload({ client: this.#client, params, partSize: partBytes, queueSize: 2, abortController })
      await upload.done()
    } catch (thrown) {
      throw this.#error(thrown, signal)
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  /** Copying an object onto itself is how S3 is told that it is used. Not every server that speaks it then says so. */
  async #touch({ sha256, usedAt }: ValueStat, signal: AbortSignal): Promise<boolean> {
    const place = this.#place(sha256)
    const CopySource = `${place.Bucket}/${place.Key.split('/').map(encodeURIComponent).join('/')}`
    const command = new CopyObjectCommand({ ...place, CopySource, MetadataDirective: 'REPLACE' })
    const copied = await this.#send(() => this.#client.send(command, { abortSignal: signal }), signal)
    return (copied.CopyObjectResult?.LastModified?.getTime() ?? 0) > usedAt
  }

  async *#piecesOf(content: StoredContent, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const { sha256, bytes } = content
    try {
      const command = new GetObjectCommand(this.#place(sha256))
      const { Body, ContentLength } = await this.#client.send(command, { abortSignal: signal })
      const stream = Body as (AsyncIterable<Uint8Array> & { destroy(): void }) | undefined
      if (stream === undefined) throw corrupt(content, 'nothing')
      if (ContentLength !== undefined && ContentLength !== bytes) {
        stream.destroy()
        throw corrupt(content, `${ContentLength} bytes instead of ${bytes}`)
      }
      const stop = (): void => stream.destroy()
      signal.addEventListener('abort', stop, { once: true })
      try {
        for await (const piece of stream) {
          signal.throwIfAborted()
          yield piece
        }
      } finally {
        signal.removeEventListener('abort', stop)
      }
    } catch (thrown) {
      if (isAbsent(thrown)) throw missing(sha256, this.description)
      throw this.#error(thrown, signal)
    }
  }

  async #send<Result>(request: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    try {
      return await request()
    } catch (thrown) {
      throw this.#error(thrown, signal)
    }
  }

  #error(thrown: unknown, signal: AbortSignal): unknown {
    return signal.aborted ? signal.reason : s3Error(thrown, this.description)
  }
}

/** An address may have a name and a password in it. */
function withoutSecrets(endpoint: string): string {
  const url = new URL(endpoint)
  return `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`
}
