import { createHash } from 'node:crypto'
import { PtcError } from '../common/errors.js'
import { partBytes, type StoredFile } from '../common/files/files.js'
import type { Values } from '../values/values.js'

/**
 * Yields the bytes of a file, part by part. Withholds the last part until size and SHA-256 match the record.
 *
 * @throws PtcError VALUE_CORRUPT; errors of the value store
 */
export async function* readStoredFile(
  values: Pick<Values, 'load'>,
  { path, parts, bytes, sha256 }: StoredFile,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = createHash('sha256')
  let read = 0
  for (const [index, part] of parts.entries()) {
    const text = await values.load(part, `file ${path}`, signal)
    if (typeof text !== 'string') throw corrupt(path)
    const content = Buffer.from(text, 'base64')
    const isLast = index === parts.length - 1
    read += content.length
    hash.update(content)
    if (read > bytes || (!isLast && content.length !== partBytes)) throw corrupt(path)
    if (isLast && (read !== bytes || hash.digest('hex') !== sha256)) throw corrupt(path)
    yield content
  }
  if (read !== bytes) throw corrupt(path)
}

function corrupt(path: string): PtcError {
  return new PtcError('VALUE_CORRUPT', `the stored bytes of ${path} do not match its record`)
}
