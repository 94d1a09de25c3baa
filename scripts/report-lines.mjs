// Files of one JSON object a line, to which many test processes append.
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

/** Gives work the names of files in a folder that is gone when it has ended. */
export async function withFiles(work) {
  const folder = mkdtempSync(join(tmpdir(), 'ptc-report-'))
  try {
    return await work((name) => join(folder, name))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
