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
}

/**
 * Stores a file.
 *
 * @throws PtcError RUN_INPUT_INVALID for more than {@link maxFileBytes}; errors of `content` and of the value store
 */
export async function storeFile(
  values: Pick<Values, 'store'>,
  { path, content }: FileSource,
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
  return { path, bytes, sha256: hash.digest('hex'), ...(await describeFile(path, start ?? Buffer.alloc(0))), parts }
}

/** Yields the bytes in parts of {@link partBytes}, at least one; the last may be shorter. */
async function* inParts(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  let pieces: Uint8Array[] = []
  let length = 0
  let isFirst = true
  for await (const piece of content) {
    for (let rest = piece; rest.length > 0;) {
      const taken = rest.subarray(0, partBytes - length)
      pieces.push(taken)
      length += taken.length
      rest = rest.subarray(taken.length)
      if (length < partBytes) continue
      yield Buffer.concat(pieces)
      isFirst = false
      pieces = []
      length = 0
    }
  }
  if (length > 0 || isFirst) yield Buffer.concat(pieces)
}
