import { createHash } from 'node:crypto'
import { PtcError } from '../common/errors.js'
import { maxFileBytes, partBytes, type StoredFile } from '../common/files/files.js'
import { type ExternalValue, externalValue } from '../common/json/external-value.js'
import type { Values } from '../values/values.js'
import { describeFile } from './describe-file.js'

export interface FileSource {
  /** The path in the sandbox. */
  readonly path: string
  /** The bytes, in pieces of any size. */
  readonly content: AsyncIterable<Uint8Array>
  /** Counts for content that is no image. Default: the type of the content or the path. */
  readonly mediaType?: string | undefined
}

/**
 * Stores a file.
 *
 * @throws PtcError RUN_INPUT_INVALID for more than {@link maxFileBytes}; errors of `content` and of the value store
 */
export async function storeFile(
  values: Pick<Values, 'store'>,
  { path, content, mediaType }: FileSource,
  signal: AbortSignal,
): Promise<StoredFile> {
  const hash = createHash('sha256')
  const parts: ExternalValue[] = []
  let bytes = 0
  let start: Buffer | undefined
  for await (const part of inParts(content)) {
    bytes += part.length
    if (bytes > maxFileBytes) throw new PtcError('RUN_INPUT_INVALID', `${path} has more than ${maxFileBytes} bytes`)
    hash.update(part)
    start ??= part
    // The preview of a value is shown in the Temporal UI, and Base64 tells nothing.
    parts.push(externalValue({ ...(await values.store(part.toString('base64'), signal)), preview: '' }))
  }
  const described = await describeFile(path, start ?? Buffer.alloc(0), mediaType)
  return { path, bytes, sha256: hash.digest('hex'), ...described, parts }
}

/** Yields the bytes in parts of {@link partBytes}, at least one; the last may be shorter. */
async function* inParts(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  // Pieces are copied: a list of many small ones would need more memory than their bytes.
  let part: Buffer = Buffer.alloc(0)
  let length = 0
  let isFirst = true
  for await (const piece of content) {
    for (let rest = piece; rest.length > 0;) {
      const taken = rest.subarray(0, partBytes - length)
      if (length + taken.length > part.length) part = enlarged(part, length, taken.length)
      part.set(taken, length)
      length += taken.length
      rest = rest.subarray(taken.length)
      if (length < partBytes) continue
      yield part
      isFirst = false
      part = Buffer.alloc(0)
      length = 0
    }
  }
  if (length > 0 || isFirst) yield part.subarray(0, length)
}

/** Returns a larger buffer with the same start. Its size is at least doubled, so that each byte is copied few times. */
function enlarged(part: Buffer, length: number, added: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(Math.max(2 * part.length, length + added), partBytes))
  part.copy(larger, 0, 0, length)
  return larger
}
