import { mkdir, readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { RunHandle } from '../../client/run/run-handle.js'
import { checkUploads } from '../../client/files/store-uploads.js'
import { messageOf, PtcError } from '../../common/errors.js'
import { type FileUpload, findFile, outputFolder, problemOfPath, type StoredFile } from '../../common/files/files.js'
import { hasErrorCode } from '../../common/system-error.js'
import { pluralize, truncateEnd } from '../../common/text/text.js'
import { print } from '../process/stdio.js'
import { oneLine } from '../rendering/text/sanitize.js'
import { TransferProgress } from './transfer-progress.js'

/*
 * `src/cli/files` moves files between this machine and a run.
 *
 * Boundary: a handle of a run, and local files. `commands/state/files.ts` has the command line.
 *
 * Invariants:
 * 1. Names of artifacts come from code in a sandbox: all artifacts together go only into a folder that was empty, and a
 *    name that could leave the folder is refused.
 * 2. A local file is written whole or not at all.
 */

export type DownloadOptions =
  /** One file. `to` is a path, or `-` for standard output. Default: the name of the file. */
  | { readonly path: string; readonly to: string | undefined }
  /** All artifacts. */
  | { readonly folder: string }

/**
 * Downloads files of a run. It reads the list of files from the history, so that no worker is needed.
 *
 * @throws PtcError FILE_NOT_FOUND, RUN_INPUT_INVALID; errors of the client and of the value store
 */
export async function downloadFiles(
  run: RunHandle<unknown>,
  wanted: DownloadOptions,
  signal: AbortSignal,
): Promise<void> {
  const { files = [] } = await run.tree()
  if ('folder' in wanted) return downloadAll(run, files, wanted.folder, signal)
  const file = findFile(files, wanted.path)
  if (!file) throw notFound(run.workflowId, wanted.path, files)
  const { to = basename(file.path) } = wanted
  if (to === '-') return writeToStdout(run, file, signal)
  await download(run, file, to, signal)
  print(to)
}

/** A reader that stops early (`| head -1`) is not an error. */
async function writeToStdout(run: RunHandle<unknown>, file: StoredFile, signal: AbortSignal): Promise<void> {
  try {
    await pipeline(run.files.read(file, { signal }), process.stdout, { end: false })
  } catch (thrown) {
    if (!hasErrorCode(thrown, 'EPIPE')) throw thrown
  }
}

async function downloadAll(
  run: RunHandle<unknown>,
  files: readonly StoredFile[],
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const artifacts = files.filter(({ path }) => problemOfPath(path, outputFolder) === undefined) // invariant 1
  if (artifacts.length === 0) throw new PtcError('FILE_NOT_FOUND', `run ${run.workflowId} has no artifacts`)
  await makeEmptyFolder(folder)
  for (const file of artifacts) {
    const to = join(folder, file.path.slice(outputFolder.length + 1))
    await mkdir(dirname(to), { recursive: true })
    await download(run, file, to, signal)
    print(to)
  }
}

async function makeEmptyFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true })
    if ((await readdir(folder)).length === 0) return
  } catch (cause) {
    throw new PtcError('RUN_INPUT_INVALID', `can't write to ${folder}: ${messageOf(cause)}`, { cause })
  }
  throw new PtcError('RUN_INPUT_INVALID', `${folder} is not empty`, { hint: 'Name a new or an empty folder.' })
}

async function download(run: RunHandle<unknown>, file: StoredFile, to: string, signal: AbortSignal): Promise<void> {
  using progress = new TransferProgress()
  progress.begin(file.path, file.bytes)
  try {
    await run.files.download(file, to, { signal, onProgress: (bytes) => progress.add(bytes) }) // invariant 2
  } catch (thrown) {
    if (PtcError.isInstance(thrown) || signal.aborted) throw thrown
    const reason = hasErrorCode(thrown, 'ENOENT') ? 'there is no such folder' : messageOf(thrown)
    throw new PtcError('RUN_INPUT_INVALID', `can't write ${to}: ${reason}`, { cause: thrown })
  }
}

const maxNamed = 10

function notFound(id: string, path: string, files: readonly StoredFile[]): PtcError {
  const named = files.slice(0, maxNamed).map((file) => truncateEnd(oneLine(file.path), 200))
  const more = files.length > maxNamed ? `, and ${files.length - maxNamed} more` : ''
  const hint =
    files.length === 0
      ? 'It has no files. Start a run with `--upload FILE`, or with `files: true` in its agent or the configuration.'
      : `It has ${named.join(', ')}${more}.`
  return new PtcError('FILE_NOT_FOUND', `run ${id} has no file ${path}`, { hint })
}

export interface UploadOptions {
  /** Paths of files; `-` is standard input. */
  readonly files: readonly string[]
  /** The path in the sandbox of the only file. Default: the names of the files. */
  readonly path: string | undefined
}

/** Checks files before the command connects. @throws PtcError RUN_INPUT_INVALID */
export async function checkSources(uploads: UploadOptions): Promise<void> {
  await checkUploads(toUploads(uploads))
}

function toUploads({ files, path }: UploadOptions): readonly FileUpload[] {
  return files.map((file) =>
    file === '-' ? { content: process.stdin, path: path ?? '' } : { file, ...(path !== undefined && { path }) },
  )
}

/** Uploads files to a run. @throws PtcError RUN_INPUT_INVALID; errors of the client and of the value store */
export async function uploadFiles(
  run: RunHandle<unknown>,
  uploads: UploadOptions,
  signal: AbortSignal,
): Promise<readonly StoredFile[]> {
  using progress = new TransferProgress()
  progress.begin(
    uploads.files.length === 1 ? (uploads.files[0] ?? '') : pluralize(uploads.files.length, 'file'),
    undefined,
  )
  return run.files.upload(toUploads(uploads), { signal, onProgress: (bytes) => progress.add(bytes) })
}
