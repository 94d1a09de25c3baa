// The files a build starts from and what becomes of them.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'

/** Files under a folder, relative to it, with forward slashes, sorted; empty when there is no such folder. */
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

/** A source that is shipped as it is: anything the compiler does not turn into JavaScript. */
export function isAsset(path) {
  return path.endsWith('.d.ts') || !path.endsWith('.ts')
}

/** What dist holds for one file of src. */
export function outputsOf(path) {
  if (isTest(path)) return []
  if (isAsset(path)) return [path]
  const stem = path.slice(0, -'.ts'.length)
  return [`${stem}.js`, `${stem}.d.ts`]
}

/** One digest over names and contents: times lie after a checkout. */
export function digestOfFiles(folder, paths) {
  const hash = createHash('sha256')
  for (const path of paths)
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(folder, path)))
      .update('\0')
  return hash.digest('hex')
}
