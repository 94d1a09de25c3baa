import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { prepareStateDirectory, requireOwnState } from '../../dev-server/state-directory.js'

/** Number of lines that are kept. */
export const historySize = 1_000

/** The lines typed at the prompt of a project, kept in its state folder. */
export interface ReplHistory {
  /** Lines of earlier starts, newest first, as readline expects them. */
  readonly lines: readonly string[]
  /** Replaces the lines. Ignores a failure: the history is a convenience. */
  save(lines: readonly string[]): void
}

/** @throws PtcError CONFIG_INVALID when the state folder belongs to another user */
export async function openReplHistory(stateDirectory: string): Promise<ReplHistory> {
  requireOwnState(stateDirectory)
  await prepareStateDirectory(stateDirectory)
  const path = join(stateDirectory, 'repl-history')
  return {
    lines: readLines(path),
    save(lines) {
      try {
        writeFileSync(path, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 })
        chmodSync(path, 0o600)
      } catch {
        // A full or read-only disk.
      }
    },
  }
}

function readLines(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
  } catch {
    return []
  }
}
