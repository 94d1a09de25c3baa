import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, posix } from 'node:path'
import type { Client } from '@temporalio/client'
import { messageOf, PtcError } from '../../common/errors.js'
import {
  type FileUpload,
  inputFolder,
  maxFileBytes,
  maxFiles,
  problemOfPath,
  problemOfUploads,
  type StoredFile,
} from '../../common/files/files.js'
import { storeFile } from '../../files/index.js'
import { hasErrorCode } from '../../common/system-error.js'
import type { Values } from '../../values/values.js'
import { clientValues } from './client-values.js'

export interface TransferOptions {
  readonly signal?: AbortSignal
  /** Called with the number of bytes since the last call. */
  readonly onProgress?: (bytes: number) => void
}

/**
 * Stores the files for a run. All paths and sizes are checked before anything is stored.
 *
 * @throws PtcError RUN_INPUT_INVALID, VALUE_STORE_UNKNOWN, and others of the store
 */
export async function storeUploads(
  client: Client,
  uploads: readonly FileUpload[],
  { signal = new AbortController().signal, onProgress = () => undefined }: TransferOptions = {},
): Promise<readonly StoredFile[]> {
  const checked = await checkUploads(uploads)
  if (checked.length === 0) return []
  const values = await clientValues(client, 'files')
  const stored: StoredFile[] = []
  for (const each of checked) stored.push(await put(values, each, signal, onProgress))
  const problem = problemOfUploads(stored, Infinity)
  if (problem !== undefined) throw invalid(problem)
  return stored
}

/** An upload with its path in the sandbox. */
type Checked =
  | StoredFile
  | { readonly path: string; readonly file: string; readonly bytes: number }
  | { readonly path: string; readonly content: AsyncIterable<Uint8Array> }

/**
 * Checks uploads without storing them: their paths, and that files can be read.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export async function checkUploads(uploads: readonly FileUpload[]): Promise<readonly Checked[]> {
  if (!Array.isArray(uploads)) throw invalid('the files are not a list')
  if (uploads.length > maxFiles) throw invalid(`a run may have ${maxFiles} files, not ${uploads.length}`)
  return Promise.all(uploads.map((upload, index) => check(upload, `file ${index + 1}`)))
}

async function check(upload: FileUpload, name: string): Promise<Checked> {
  if (typeof upload !== 'object' || upload === null) throw invalid(`${name}: it is not an object`)
  if ('parts' in upload) return upload
  const { path = 'file' in upload && typeof upload.file === 'string' ? basename(upload.file) : undefined } = upload
  if (typeof path !== 'string') throw invalid(`${name}: it has no path`)
  const inSandbox = posix.isAbsolute(path) ? path : `${inputFolder}/${path}`
  const problem = problemOfPath(inSandbox, inputFolder)
  if (problem !== undefined) throw invalid(`${name}: the path ${JSON.stringify(path)}: ${problem}`)
  if ('file' in upload) {
    return { path: inSandbox, file: upload.file, bytes: await sizeOf(upload.file, name) }
  }
  if ('content' in upload) {
    const { content } = upload
    if (typeof content === 'object' && content !== null && Symbol.asyncIterator in content)
      return { path: inSandbox, content }
    throw invalid(`${name}: content is not an async iterable`)
  }
  const { data } = upload
  if (typeof data !== 'string' && !(data instanceof Uint8Array))
    throw invalid(`${name}: data is neither bytes nor a text`)
  return { path: inSandbox, content: only(typeof data === 'string' ? Buffer.from(data) : data) }
}

async function sizeOf(file: string, name: string): Promise<number> {
  if (typeof file !== 'string') throw invalid(`${name}: file is not a path`)
  const found = await stat(file).catch((cause: unknown) => {
    throw invalid(
      hasErrorCode(cause, 'ENOENT') ? `there is no file ${file}` : `can't read ${file}: ${messageOf(cause)}`,
    )
  })
  if (!found.isFile()) throw invalid(`${file} is not a file`)
  if (found.size > maxFileBytes) throw invalid(`${file} has ${found.size} bytes; a file may have ${maxFileBytes}`)
  return found.size
}

async function put(
  values: Values,
  upload: Checked,
  signal: AbortSignal,
  onProgress: (bytes: number) => void,
): Promise<StoredFile> {
  if ('parts' in upload) return upload
  const { path } = upload
  const store = (content: AsyncIterable<Uint8Array>) =>
    storeFile(values, { path, content: counted(content, onProgress) }, signal)
  if ('content' in upload) return store(upload.content)
  try {
    return await store(createReadStream(upload.file, { highWaterMark: 1 << 20 }))
  } catch (thrown) {
    if (PtcError.isInstance(thrown) || signal.aborted) throw thrown
    throw invalid(`can't read ${upload.file}: ${messageOf(thrown)}`)
  }
}

async function* counted(
  content: AsyncIterable<Uint8Array>,
  onProgress: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of content) {
    yield piece
    onProgress(piece.length)
  }
}

async function* only(data: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield data
}

function invalid(problem: string): PtcError {
  return new PtcError('RUN_INPUT_INVALID', problem)
}
