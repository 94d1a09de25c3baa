// Files of JSON lines, to which many test processes append.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export function readLines(file) {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

/** Calls `work` with a function that names files in a temporary folder, and deletes the folder. */
export async function withTemporaryFiles(work) {
  const folder = mkdtempSync(join(tmpdir(), 'ptc-report-'))
  try {
    return await work((name) => join(folder, name))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
