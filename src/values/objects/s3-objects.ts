import {
  DeleteObjectCommand,
  GetObjectCommand,
  paginateListObjectsV2,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import type { S3StoreSettings } from '../option.js'
import { createS3Client, describeBucket } from '../s3/s3-client.js'
import { isConflict, isNotFound, toS3StoreError } from '../s3/s3-store-errors.js'
import { tooLarge } from './local-objects.js'
import type { ObjectStore } from './object-store.js'

/** Objects in a bucket. `If-None-Match: *` makes their creation exclusive. */
export class S3Objects implements ObjectStore {
  readonly description: string
  readonly #client: S3Client
  readonly #bucket: string
  readonly #prefix: string

  constructor(settings: S3StoreSettings) {
    this.description = describeBucket(settings)
    this.#client = createS3Client(settings)
    this.#bucket = settings.bucket
    this.#prefix = settings.prefix
  }

  async read(name: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const command = new GetObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + name })
    try {
      const { Body, ContentLength } = await this.#client.send(command, { abortSignal: signal })
      const stream = Body as (AsyncIterable<Uint8Array> & { destroy(): void }) | undefined
      if (stream === undefined) return new Uint8Array()
      const pieces: Uint8Array[] = []
      let bytes = 0
      const isTooLarge = (ContentLength ?? 0) > maxBytes
      if (isTooLarge) stream.destroy()
      else
        for await (const piece of stream) {
          signal.throwIfAborted()
          bytes += piece.byteLength
          if (bytes > maxBytes) break
          pieces.push(piece)
        }
      if (isTooLarge || bytes > maxBytes) throw tooLarge(name, maxBytes)
      return Buffer.concat(pieces)
    } catch (thrown) {
      if (isNotFound(thrown)) return undefined
      throw this.#toError(thrown, signal)
    }
  }

  /** A request that is sent again after its reply was lost gets a conflict, although it was the one that created. */
  async create(name: string, content: Uint8Array, signal: AbortSignal): Promise<boolean> {
    const command = new PutObjectCommand({
      Bucket: this.#bucket,
      Key: this.#prefix + name,
      Body: content,
      ContentType: 'application/octet-stream',
      IfNoneMatch: '*',
    })
    try {
      await this.#client.send(command, { abortSignal: signal })
      return true
    } catch (thrown) {
      if (isConflict(thrown)) return false
      throw this.#toError(thrown, signal)
    }
  }

  async list(folder: string, signal: AbortSignal): Promise<readonly string[]> {
    const prefix = `${this.#prefix}${folder}/`
    const names: string[] = []
    try {
      const pages = paginateListObjectsV2({ client: this.#client }, { Bucket: this.#bucket, Prefix: prefix })
      for await (const { Contents = [] } of pages) {
        signal.throwIfAborted()
        names.push(...Contents.map(({ Key = '' }) => Key.slice(prefix.length)))
      }
      return names
    } catch (thrown) {
      throw this.#toError(thrown, signal)
    }
  }

  async *folders(signal: AbortSignal): AsyncGenerator<string, void, undefined> {
    try {
      const options = { Bucket: this.#bucket, Prefix: this.#prefix, Delimiter: '/' }
      for await (const { CommonPrefixes = [] } of paginateListObjectsV2({ client: this.#client }, options)) {
        signal.throwIfAborted()
        for (const { Prefix = '' } of CommonPrefixes) yield Prefix.slice(this.#prefix.length, -1)
      }
    } catch (thrown) {
      throw this.#toError(thrown, signal)
    }
  }

  /** Requests one by one: not every compatible server removes several objects in one request. */
  async remove(names: readonly string[], signal: AbortSignal): Promise<void> {
    for (const name of names) {
      const command = new DeleteObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + name })
      try {
        await this.#client.send(command, { abortSignal: signal })
      } catch (thrown) {
        if (!isNotFound(thrown)) throw this.#toError(thrown, signal)
      }
    }
  }

  removeUnfinished(): Promise<void> {
    return Promise.resolve() // an upload of one request is whole or does not exist
  }

  close(): Promise<void> {
    this.#client.destroy()
    return Promise.resolve()
  }

  #toError(thrown: unknown, signal: AbortSignal): unknown {
    return signal.aborted ? signal.reason : toS3StoreError(thrown, this.description)
  }
}
