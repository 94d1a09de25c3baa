/*
 * Files of a sandbox: what code can read from its first statement on, such as the files of skills.
 *
 * Boundary: a backend with the capability `files` puts them into each sandbox that it opens, before code runs there. It
 * does not know what they are for. The caller bounds number and sizes; a backend refuses paths that leave the folder.
 *
 * Invariants:
 * 1. Equal digests mean equal files: a rebuilt sandbox has what the lost one had.
 * 2. Code can't change the files, their modes, or the list of a folder.
 * 3. The bytes travel through the API of the backend. No folder of a worker is mounted, because a daemon may be on
 *    another machine.
 */
import { createHash } from 'node:crypto'
import { PtcError } from '../common/errors.js'

/** The folder of the files in every sandbox. */
export const filesRoot = '/skills'

export interface SandboxFile {
  /** Relative to {@link filesRoot}, with `/` between names. */
  readonly path: string
  readonly content: Uint8Array
  readonly isExecutable: boolean
}

/** A set of files. Make it with {@link sandboxFiles}. */
export interface SandboxFiles {
  /** SHA-256 of paths, modes and contents. */
  readonly digest: string
  /** In the order of their paths. */
  readonly entries: readonly SandboxFile[]
}

/** @throws PtcError INTERNAL for a path that is not the path of a file in the folder, or twice */
export function sandboxFiles(files: readonly SandboxFile[]): SandboxFiles {
  const entries = [...files].sort((a, b) => (a.path < b.path ? -1 : 1))
  const paths = new Set(entries.map(({ path }) => path))
  const invalid = entries.find(({ path }) => !isRelativePath(path))
  if (invalid || paths.size < entries.length)
    throw new PtcError('INTERNAL', `the files of a sandbox can't have the path ${invalid?.path ?? 'of another file'}`)
  const hash = createHash('sha256')
  for (const { path, content, isExecutable } of entries) {
    hash.update(JSON.stringify([path, isExecutable, content.byteLength]))
    hash.update(content)
  }
  return { digest: hash.digest('hex'), entries }
}

/** The folders of the files, each before those in it. */
export function foldersOf(files: readonly Pick<SandboxFile, 'path'>[]): readonly string[] {
  const folders = new Set<string>()
  for (const { path } of files) {
    const names = path.split('/').slice(0, -1)
    for (const index of names.keys()) folders.add(names.slice(0, index + 1).join('/'))
  }
  return [...folders].sort()
}

/** Whether a path names something below the folder, in the only way. */
export function isRelativePath(path: string): boolean {
  return path.split('/').every((name) => name !== '' && name !== '.' && name !== '..' && !/[\\\0]/.test(name))
}
