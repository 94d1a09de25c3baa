import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { ContentMeter } from './content.js'
import { localError } from './local-errors.js'
import type { StoredContent } from './store.js'

/** Content that is small enough stays in memory. */
const memoryBytes = 1024 * 1024

/** Content whose key is known now, to be read once. */
export interface Spooled extends AsyncDisposable {
  readonly stored: StoredContent
  readonly body: Buffer | Readable
}

/**
 * Reads content to its end, to learn its key before it goes where its name is its key. What is big waits in a private temporary
 * file, which has no name while it is used: a killed process leaves nothing.
 *
 * @throws PtcError VALUE_STORE_FULL and others for the temporary file; the signal's reason; what `content` throws
 */
export async function spool(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  signal: AbortSignal,
): Promise<Spooled> {
  const meter = new ContentMeter()
  const pieces: Uint8Array[] = []
  let file: FileHandle | undefined
  try {
    for await (const piece of content) {
      signal.throwIfAborted()
      meter.add(piece)
      if (file === undefined) pieces.push(piece)
      if (file === undefined && meter.bytes <= memoryBytes) continue
      file ??= await onDisk(namelessFile)
      const waiting = pieces.length > 0 ? pieces.splice(0) : [piece]
      for (const each of waiting) await onDisk(() => file?.writeFile(each))
    }
  } catch (thrown) {
    await file?.close()
    throw thrown
  }
  const stored = meter.finish()
  // With its end: whoever sends it wants to know how long it is.
  const range = { start: 0, end: stored.bytes - 1, autoClose: false }
  return {
    stored,
    body: file === undefined ? Buffer.concat(pieces) : file.createReadStream(range),
    async [Symbol.asyncDispose]() {
      await file?.close()
    },
  }
}

async function namelessFile(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'ptc-value-'))
  try {
    return await open(join(folder, 'value'), 'wx+', 0o600)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function onDisk<Result>(work: () => Promise<Result> | undefined): Promise<Result> {
  try {
    return (await work()) as Result
  } catch (thrown) {
    throw localError(thrown, tmpdir())
  }
}
