import type { Dirent } from 'node:fs'
import { constants, lstat, open, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, PtcError } from '../common/errors.js'
import type { SandboxFile } from '../sandbox/sandbox-files.js'
import { skillLimits } from './limits.js'
import { invalidSkill } from './skill.js'

/** Left out of a skill: version control, caches and settings of editors. */
export function isLeftOut(name: string): boolean {
  return name.startsWith('.') || name === '__pycache__' || name === 'node_modules'
}

/** The bytes that a configuration may still read. */
export interface ByteBudget {
  left: number
}

/**
 * Reads the files of a folder, with paths relative to it.
 *
 * @param folder a resolved path, without links
 * @throws PtcError SKILL_INVALID
 */
export async function readFolder(folder: string, total: ByteBudget): Promise<readonly SandboxFile[]> {
  const files: SandboxFile[] = []
  let entries = 0
  let bytes = 0
  const visit = async (relative: string): Promise<void> => {
    const path = join(folder, relative)
    await requireUnlinked(path)
    for (const entry of await list(path)) {
      if (isLeftOut(entry.name)) continue
      entries += 1
      if (entries > skillLimits.entries)
        throw invalidSkill(folder, `has more than ${skillLimits.entries} files and folders`)
      const within = relative === '' ? entry.name : `${relative}/${entry.name}`
      const full = join(folder, within)
      const problem = problemOfName(entry.name) ?? problemOfPath(within) ?? problemOfType(entry)
      if (problem !== undefined) throw invalidSkill(JSON.stringify(full), problem)
      if (entry.isDirectory()) {
        await visit(within)
        continue
      }
      const left = Math.min(skillLimits.fileBytes, skillLimits.skillBytes - bytes, total.left)
      const { content, isExecutable } = await readRegularFile(full, left)
      bytes += content.byteLength
      total.left -= content.byteLength
      files.push({ path: within, content, isExecutable })
    }
  }
  await visit('')
  return files
}

/** @throws PtcError SKILL_INVALID */
export async function list(folder: string): Promise<readonly Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((thrown: unknown) => {
    throw invalidSkill(folder, `can't be read: ${messageOf(thrown)}`)
  })
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Refuses a folder that is reached through a link, also one that became a link after it was listed. */
async function requireUnlinked(path: string): Promise<void> {
  const real = await realpath(path).catch(() => undefined)
  if (real !== path) throw invalidSkill(path, 'is reached through a link, which is refused')
  if (!(await lstat(path)).isDirectory()) throw invalidSkill(path, 'is not a folder')
}

function problemOfType(entry: Dirent): string | undefined {
  if (entry.isSymbolicLink()) return 'is a link, which is refused'
  return entry.isFile() || entry.isDirectory() ? undefined : 'is a special file, which is refused'
}

function problemOfName(name: string): string | undefined {
  // U+FFFD stands for bytes that are not UTF-8.
  const isPlain = !/[\\\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}\uFFFD]/u.test(name)
  return isPlain ? undefined : 'has a name with a backslash, or with characters that can not be seen'
}

function problemOfPath(path: string): string | undefined {
  const { pathBytes } = skillLimits
  return Buffer.byteLength(path) > pathBytes ? `has a path of more than ${pathBytes} bytes` : undefined
}

/**
 * Reads a regular file. It is checked after it was opened, and opened without following a link.
 *
 * @throws PtcError SKILL_INVALID
 */
async function readRegularFile(path: string, limit: number): Promise<Pick<SandboxFile, 'content' | 'isExecutable'>> {
  const tooLarge = () =>
    invalidSkill(path, 'is too large', 'docs/reference/limits.md has the limits of files, skills and configurations.')
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const before = await file.stat()
    if (!before.isFile()) throw invalidSkill(path, 'is not a regular file')
    if (before.size > limit) throw tooLarge()
    const content = Buffer.alloc(before.size)
    let length = 0
    while (length < content.byteLength) {
      const { bytesRead } = await file.read(content, length, content.byteLength - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    const after = await file.stat()
    if (length !== after.size || after.mtimeMs !== before.mtimeMs)
      throw invalidSkill(path, 'was changed while it was read', 'Start the worker again.')
    return { content, isExecutable: (before.mode & 0o111) !== 0 }
  } catch (thrown) {
    if (PtcError.isInstance(thrown)) throw thrown
    throw invalidSkill(path, `can't be read: ${messageOf(thrown)}`)
  }
}
