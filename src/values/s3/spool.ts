import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { messageOf, PtcError } from '../../common/errors.js'
import { ContentHasher } from '../content.js'
import { toLocalStoreError } from '../local/local-store-errors.js'
import type { StoredContent } from '../store.js'

/** Larger content is spooled to a temporary file. */
const maxMemoryBytes = 1024 * 1024

/** Content with its key. `body` can be read once. */
export interface Spooled extends AsyncDisposable {
  readonly stored: StoredContent
  readonly body: Buffer | Readable
}

/**
 * Reads content to its end, because the key must be known before the upload. Large content is spooled to a temporary
 * file, which is unlinked as soon as it is open: a killed process leaves no file.
 *
 * @throws PtcError VALUE_STORE_FULL and others for the temporary file; the signal's reason; errors of `content`
 */
export async function spool(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  signal: AbortSignal,
): Promise<Spooled> {
  const hasher = new ContentHasher()
  const pieces: Uint8Array[] = []
  let file: FileHandle | undefined
  try {
    for await (const piece of content) {
      signal.throwIfAborted()
      hasher.add(piece)
      if (file === undefined) pieces.push(piece)
      if (file === undefined && hasher.bytes <= maxMemoryBytes) continue
      const spooled = (file ??= await toSpoolErrors(openUnlinkedFile))
      const buffered = pieces.length > 0 ? pieces.splice(0) : [piece]
      for (const each of buffered) await toSpoolErrors(() => spooled.writeFile(each))
    }
  } catch (thrown) {
    await file?.close()
    throw thrown
  }
  const stored = hasher.finish()
  // The range has an end, so that the uploader knows the length.
  const range = { start: 0, end: stored.bytes - 1, autoClose: false }
  return {
    stored,
    body: file === undefined ? Buffer.concat(pieces) : file.createReadStream(range),
    async [Symbol.asyncDispose]() {
      await file?.close()
    },
  }
}

async function openUnlinkedFile(): Promise<FileHandle> {
  const directory = await mkdtemp(join(tmpdir(), 'ptc-value-'))
  try {
    return await open(join(directory, 'value'), 'wx+', 0o600)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Errors are about the temporary folder. It is not the store, so garbage collection does not help. */
async function toSpoolErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    const { code } = toLocalStoreError(cause, tmpdir())
    const message = `a value can't be written to the temporary folder ${tmpdir()}: ${messageOf(cause)}`
    throw new PtcError(code, message, { hint: 'Make room there, or start the worker with another TMPDIR.', cause })
  }
}
