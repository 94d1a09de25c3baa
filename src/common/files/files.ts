/*
 * Files of a run: those that a client uploads, and those that its code leaves as artifacts.
 *
 * Owns: their form in recorded runs, the folders by convention, and the limits.
 * Boundary: data. The bytes are in the value store; `src/files` stores and reads them.
 *
 * Invariants:
 * 1. A recorded file names its content: a later file of the same path is another record.
 * 2. No part is larger than {@link partBytes}, so that no process has a whole file in memory.
 */
import { type ExternalValue, isExternal } from '../json/external-value.js'
import type { JsonValue } from '../json/json.js'
import type { StepLimits } from '../run/limits.js'
import type { Requester } from '../run/requester.js'
import type { SessionRef } from '../session/session.js'
import { truncateEnd, utf8Length } from '../text/text.js'

/** The folder into which uploaded files are written. */
export const inputFolder = '/tmp/in'

/** The folder for files that a run gives to all of its sandboxes. An upload of a client has another path. */
export const sharedFolder = `${inputFolder}/shared`

/** The folder whose files are kept as artifacts when a cell ends. */
export const outputFolder = '/tmp/out'

/** The folder into which files are written that tools return. Each call has a folder of its own there. */
const toolFolder = `${inputFolder}/tools`

/** Bytes of one part of a file, apart from the last. A multiple of 3, so that only the last part has padding. */
export const partBytes = 6 * 1024 * 1024

/** Bytes of one file. */
export const maxFileBytes = 1024 * 1024 * 1024

/** Files that a run may have, uploads and artifacts together. */
export const maxFiles = 500

/** A file whose bytes are in the value store. */
export interface StoredFile {
  /** The absolute path in the sandbox. */
  readonly path: string
  readonly bytes: number
  /** SHA-256 of the bytes, 64 hex digits. */
  readonly sha256: string
  readonly mediaType: string
  /** The bytes in Base64, in parts of {@link partBytes}: each a string in the value store. At least one. */
  readonly parts: readonly ExternalValue[]
  /** Pixels of an image. Absent: it is not an image, or its size is unknown. */
  readonly pixels?: { readonly width: number; readonly height: number }
  /** The first lines of a text. Absent: it is not a text. */
  readonly preview?: string
}

/** What lists of files say about one. */
export type FileInfo = Pick<StoredFile, 'path' | 'bytes' | 'mediaType' | 'sha256' | 'pixels'>

export function fileInfo({ path, bytes, mediaType, sha256, pixels }: StoredFile): FileInfo {
  return { path, bytes, mediaType, sha256, ...(pixels && { pixels }) }
}

/**
 * Finds a file by its path. A relative path is in {@link outputFolder}, or else in {@link inputFolder}, or else the name
 * of the only file of a tool that has this name.
 */
export function findFile(files: readonly StoredFile[], path: string): StoredFile | undefined {
  const paths = path.startsWith('/') ? [path] : [`${outputFolder}/${path}`, `${inputFolder}/${path}`]
  const found = paths.map((each) => files.find((file) => file.path === each)).find((file) => file !== undefined)
  if (found) return found
  const ofTools = files.filter((file) => isToolFile(file) && file.path.endsWith(`/${path}`))
  return ofTools.length === 1 ? ofTools[0] : undefined
}

/** A file for a run. A client accepts all forms; a workflow accepts only a stored one. */
export type FileUpload =
  | StoredFile
  | {
      /** The path of a file that the client reads. */
      readonly file: string
      /** The path in {@link inputFolder}. Default: the name of the file. */
      readonly path?: string
    }
  | {
      /** The bytes, or a text. */
      readonly data: Uint8Array | string
      readonly path: string
    }
  | {
      /** The bytes in pieces of any size. They are read once. */
      readonly content: AsyncIterable<Uint8Array>
      readonly path: string
    }

/** A file in a folder for artifacts, as the sandbox reports it at the end of a cell: untrusted. */
export interface FoundFile {
  readonly path: string
  readonly bytes: number
  /** SHA-256 of the bytes. Absent: the file was not read, for the reason in `problem`. */
  readonly sha256?: string
  readonly problem?: string
}

/** Files that a sandbox reports at the end of a cell. */
export const maxFoundFiles = 100

/** A file that could not be kept. */
export interface LostFile {
  readonly path: string
  readonly problem: string
}

/** Returns why a file can't have a path in a folder of the sandbox; undefined when it can. */
export function problemOfPath(path: string, folder: string): string | undefined {
  if (!path.startsWith(`${folder}/`)) return `it is not in ${folder}`
  if (path.length > maxPathCharacters) return `it has more than ${maxPathCharacters} characters`
  const names = path.slice(folder.length + 1).split('/')
  if (names.some((name) => name === '' || name === '.' || name === '..')) return 'it has an empty name, or a dot as one'
  // oxlint-disable-next-line no-control-regex
  if (/[\0-\x1f\x7f-\x9f\u2028\u2029]/.test(path)) return 'it has a control character'
  if (!path.isWellFormed()) return 'it has half of a character'
  return undefined
}

const maxPathCharacters = 1_000

/** Bytes that the name of a file of a tool may have in UTF-8. A file system allows 255. */
const maxNameBytes = 200

/** Characters of the idempotency key that name the folder of a call: no two calls of a run have the same. */
const folderCharacters = 16

/**
 * Returns the path of the file that a call returns. The idempotency key is the same in each attempt, so the path is, too.
 *
 * @param name without a {@link problemOfFileName}
 */
export function toolFilePath(idempotencyKey: string, name: string): string {
  return `${toolFolder}/${idempotencyKey.slice(0, folderCharacters)}/${name}`
}

/** Returns why a file of a tool can't have the name; undefined when it can. */
export function problemOfFileName(name: string): string | undefined {
  if (name.includes('/')) return 'it has a slash'
  if (utf8Length(name) > maxNameBytes) return `it has more than ${maxNameBytes} bytes`
  return problemOfPath(`${toolFolder}/${name}`, toolFolder)
}

/** Whether a path is that of a file that a tool has returned. */
export function isToolFile({ path }: Pick<StoredFile, 'path'>): boolean {
  return toolFilePattern.test(path)
}

const toolFilePattern = new RegExp(`^${toolFolder}/[0-9a-f]{${folderCharacters}}/[^/]+$`)

/** How a run has files: uploads are written into {@link inputFolder}, and {@link outputFolder} is kept. */
export interface RunFilesConfig {
  /** The uploads of the start of the run. */
  readonly uploads: readonly StoredFile[]
}

/** Input of activity `session.files`. */
export interface StoreFilesInput {
  readonly session: SessionRef
  /** Number of the last step, which ended the cell. */
  readonly step: number
  readonly limits: StepLimits
  /** Of all files together. */
  readonly maxBytes: number
  readonly files: readonly FoundFile[]
  /** For events. */
  readonly requester?: Requester
}

/** What a sandbox needs so that its runner reports artifacts: a part of the name of its language. */
export const filesService = 'files'

/** What became of the artifacts of a cell. */
export interface KeptFiles {
  readonly files: readonly StoredFile[]
  readonly lost: readonly LostFile[]
}

/** Result of activity `session.files`. `gone`: the sandbox is lost, and the files with it. */
export type StoreFilesResult = ({ readonly type: 'stored' } & KeptFiles) | { readonly type: 'gone' }

/**
 * Returns why a run refuses uploads; undefined when it accepts them. They may come from another client.
 *
 * @param tmpBytes the size of the folder that has all files
 */
export function problemOfUploads(uploads: unknown, tmpBytes: number): string | undefined {
  if (!Array.isArray(uploads)) return 'the files are not a list'
  if (uploads.length > maxFiles) return `a run may have ${maxFiles} files, not ${uploads.length}`
  const paths = new Set<string>()
  let bytes = 0
  for (const [index, upload] of (uploads as readonly unknown[]).entries()) {
    const problem = problemOfUpload(upload)
    if (problem !== undefined) return `file ${index + 1}: ${problem}`
    const file = upload as StoredFile
    if (paths.has(file.path)) return `file ${index + 1}: ${file.path} is there twice`
    paths.add(file.path)
    bytes += file.bytes
  }
  return bytes > tmpBytes ? `the files have ${bytes} bytes, and the sandbox has room for ${tmpBytes}` : undefined
}

function problemOfUpload(upload: unknown): string | undefined {
  if (typeof upload !== 'object' || upload === null) return 'it is not an object'
  const { path, bytes, sha256, mediaType, parts } = upload as Readonly<Record<string, JsonValue>>
  if (typeof path !== 'string') return 'it has no path'
  const problem = problemOfPath(path, inputFolder)
  if (problem !== undefined) return `the path ${JSON.stringify(truncateEnd(path, 100))}: ${problem}`
  if (!Number.isSafeInteger(bytes) || Number(bytes) < 0 || Number(bytes) > maxFileBytes)
    return `it has more than ${maxFileBytes} bytes`
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) return 'it has no SHA-256'
  if (typeof mediaType !== 'string' || mediaType.length > 200) return 'it has no media type'
  const count = Math.max(1, Math.ceil(Number(bytes) / partBytes))
  const areStored = Array.isArray(parts) && parts.length === count && parts.every((part) => isExternal(part))
  return areStored ? undefined : 'its bytes are not in the value store: a client stores them'
}
