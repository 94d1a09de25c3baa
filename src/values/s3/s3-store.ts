import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  paginateListObjectsV2,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { verifyContent, corruptError, isKey, missingError, assertKey } from '../content.js'
import { createS3Client, describeBucket } from './s3-client.js'
import { isConflict, isNotFound, toS3StoreError } from './s3-store-errors.js'
import type { S3StoreSettings } from '../option.js'
import { spool, type Spooled } from './spool.js'
import type { StoredContent, ValueStat, ValueStore } from '../store.js'

/** Larger values are uploaded in parts of this size, two at a time. This limits the memory. */
const partBytes = 8 * 1024 * 1024
/** Maximum size that S3 copies in one request. */
const maxCopyBytes = 5 * 1024 ** 3

/** Values as objects in a bucket of S3 or of a compatible server; many machines may share it. */
export class S3Store implements ValueStore {
  readonly description: string
  readonly #client: S3Client
  readonly #bucket: string
  readonly #prefix: string

  /** @param idleTimeout milliseconds after which a silent connection is closed */
  constructor(settings: S3StoreSettings, idleTimeout?: number) {
    this.#bucket = settings.bucket
    this.#prefix = settings.prefix
    this.description = describeBucket(settings)
    this.#client = createS3Client(settings, idleTimeout)
  }

  async put(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, signal: AbortSignal): Promise<StoredContent> {
    await using spooled = await spool(content, signal)
    const { sha256, bytes } = spooled.stored
    // A small value is always uploaded: that takes one request, like a check.
    const existing = bytes > partBytes && bytes <= maxCopyBytes ? await this.stat(sha256, signal) : undefined
    if (existing?.bytes !== bytes || !(await this.#touch(existing, signal))) await this.#upload(spooled, signal)
    return spooled.stored
  }

  async *read(content: StoredContent, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const pieces = this.#piecesOf(content, signal)
    yield* verifyContent(pieces, content)
  }

  async stat(sha256: string, signal: AbortSignal): Promise<ValueStat | undefined> {
    const command = new HeadObjectCommand(this.#location(sha256))
    try {
      const { ContentLength, LastModified } = await this.#client.send(command, { abortSignal: signal })
      return { sha256, bytes: ContentLength ?? 0, usedAt: LastModified?.getTime() ?? 0 }
    } catch (thrown) {
      if (isNotFound(thrown)) return undefined
      throw this.#toError(thrown, signal)
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
      throw this.#toError(thrown, signal)
    }
  }

  /**
   * Removes a value. S3 can't remove conditionally by age, so a put between the check and the removal, two consecutive
   * requests, is lost.
   */
  async remove(sha256: string, signal: AbortSignal, unusedSince?: number): Promise<boolean> {
    const found = await this.stat(sha256, signal)
    if (found === undefined || (unusedSince !== undefined && found.usedAt > unusedSince)) return false
    await this.#request(
      () => this.#client.send(new DeleteObjectCommand(this.#location(sha256)), { abortSignal: signal }),
      signal,
    )
    return true
  }

  async putIfAbsent(name: string, content: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    const location = { Bucket: this.#bucket, Key: this.#prefix + name }
    const read = async (): Promise<Uint8Array> => {
      const { Body } = await this.#client.send(new GetObjectCommand(location), { abortSignal: signal })
      return (await Body?.transformToByteArray()) ?? new Uint8Array()
    }
    const present = await this.#request(() => read().catch(undefinedIfNotFound), signal)
    if (present !== undefined) return present
    const command = new PutObjectCommand({ ...location, Body: content, IfNoneMatch: '*' })
    const put = () => this.#client.send(command, { abortSignal: signal })
    await this.#request(() => put().catch(undefinedIfConflict), signal)
    return this.#request(read, signal)
  }

  close(): Promise<void> {
    this.#client.destroy()
    return Promise.resolve()
  }

  #location(sha256: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + assertKey(sha256) }
  }

  async #upload({ stored, body }: Spooled, signal: AbortSignal): Promise<void> {
    const abortController = new AbortController()
    const onAbort = (): void => abortController.abort(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    const params = { ...this.#location(stored.sha256), Body: body, ContentType: 'application/octet-stream' }
    try {
      signal.throwIfAborted()
      const upload = new Upload({ client: this.#client, params, partSize: partBytes, queueSize: 2, abortController })
      await upload.done()
    } catch (thrown) {
      throw this.#toError(thrown, signal)
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /**
   * Renews LastModified by copying an object onto itself. Returns false if the server does not renew it, or if the
   * object was removed meanwhile.
   */
  async #touch({ sha256, usedAt }: ValueStat, signal: AbortSignal): Promise<boolean> {
    const location = this.#location(sha256)
    const CopySource = `${location.Bucket}/${location.Key.split('/').map(encodeURIComponent).join('/')}`
    const command = new CopyObjectCommand({ ...location, CopySource, MetadataDirective: 'REPLACE' })
    const copy = () => this.#client.send(command, { abortSignal: signal })
    const copied = await this.#request(() => copy().catch(undefinedIfNotFound), signal)
    return (copied?.CopyObjectResult?.LastModified?.getTime() ?? 0) > usedAt
  }

  async *#piecesOf(content: StoredContent, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const { sha256, bytes } = content
    try {
      const command = new GetObjectCommand(this.#location(sha256))
      const { Body, ContentLength } = await this.#client.send(command, { abortSignal: signal })
      const stream = Body as (AsyncIterable<Uint8Array> & { destroy(): void }) | undefined
      if (stream === undefined) throw corruptError(content, 'nothing')
      if (ContentLength !== undefined && ContentLength !== bytes) {
        stream.destroy()
        throw corruptError(content, `${ContentLength} bytes instead of ${bytes}`)
      }
      const onAbort = (): void => stream.destroy()
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        for await (const piece of stream) {
          signal.throwIfAborted()
          yield piece
        }
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
    } catch (thrown) {
      if (isNotFound(thrown)) throw missingError(sha256, this.description)
      throw this.#toError(thrown, signal)
    }
  }

  async #request<Result>(request: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    try {
      return await request()
    } catch (thrown) {
      throw this.#toError(thrown, signal)
    }
  }

  #toError(thrown: unknown, signal: AbortSignal): unknown {
    return signal.aborted ? signal.reason : toS3StoreError(thrown, this.description)
  }
}

function undefinedIfNotFound(thrown: unknown): undefined {
  if (!isNotFound(thrown)) throw thrown
}

function undefinedIfConflict(thrown: unknown): undefined {
  if (!isConflict(thrown)) throw thrown
}
