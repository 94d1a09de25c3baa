// The sources of a build and their outputs.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'

/** Sorted relative paths, with forward slashes, of the files in a folder; empty when the folder does not exist. */
export function filesUnder(folder) {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1))
    .map((path) => path.split(sep).join('/'))
    .sort()
}

export function isTest(path) {
  return path.endsWith('.test.ts') || path.includes('.golden.')
}

/** True for a source that is copied, not compiled. */
export function isAsset(path) {
  return path.endsWith('.d.ts') || !path.endsWith('.ts')
}

/** The files of dist for one file of src. */
export function outputsOf(path) {
  if (isTest(path)) return []
  if (isAsset(path)) return [path]
  const stem = path.slice(0, -'.ts'.length)
  return [`${stem}.js`, `${stem}.d.ts`]
}

/** Digest of names and contents, because times are wrong after a checkout. */
export function digestOfFiles(folder, paths) {
  const hash = createHash('sha256')
  for (const path of paths)
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(folder, path)))
      .update('\0')
  return hash.digest('hex')
}
