import { mkdtemp, open, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasErrorCode } from '../common/system-error.js'
import { makeFolder } from '../platform/make-folder.js'

/** The output of a server: `temporal.log` of the state directory, or a temporary file. */
export interface ServerLog {
  readonly path: string
  /** File descriptor for the server's output. */
  readonly descriptor: number
  /**
   * The last lines, for an error message. After a panic also its reason, which the stack may push out of the last
   * lines.
   */
  tail(): Promise<string>
  /** Closes the file; deletes a temporary one. */
  close(): Promise<void>
}

const tailLines = 12

/** Opens a new log and renames the previous one to `temporal.log.1`. */
export async function openServerLog(stateDirectory: string | undefined): Promise<ServerLog> {
  const folder = stateDirectory ?? (await mkdtemp(join(tmpdir(), 'durable-ptc-temporal-')))
  await makeFolder(folder)
  const path = join(folder, 'temporal.log')
  await rotateLog(path)
  const file = await open(path, 'a', 0o600)
  return {
    path,
    descriptor: file.fd,
    async tail() {
      const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
      const panic = lines.slice(0, -tailLines).findLast((line) => line.startsWith('panic:'))
      return [...(panic === undefined ? [] : [panic]), ...lines.slice(-tailLines)].join('\n')
    },
    async close() {
      await file.close()
      if (stateDirectory === undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}

async function rotateLog(path: string): Promise<void> {
  try {
    await rename(path, `${path}.1`)
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT')) throw error
  }
}
