import { mkdtemp, open, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasCode } from './file-lock.js'

/** Where a server writes what it says: `temporal.log` of the state directory, or a temporary file. */
export interface ServerLog {
  readonly path: string
  /** File descriptor to hand to a process. */
  readonly descriptor: number
  /** The last lines, for an error message. */
  tail(): Promise<string>
  /** Lets go of the file; a temporary one disappears. */
  close(): Promise<void>
}

const tailLines = 12

/** Opens a fresh log; the one of the server before stays beside it as `temporal.log.1`. */
export async function openServerLog(stateDirectory: string | undefined): Promise<ServerLog> {
  const folder = stateDirectory ?? (await mkdtemp(join(tmpdir(), 'durable-ptc-temporal-')))
  await mkdir(folder, { recursive: true })
  const path = join(folder, 'temporal.log')
  await keepLast(path)
  const file = await open(path, 'a', 0o600)
  return {
    path,
    descriptor: file.fd,
    async tail() {
      return (await readFile(path, 'utf8')).trimEnd().split('\n').slice(-tailLines).join('\n')
    },
    async close() {
      await file.close()
      if (stateDirectory === undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}

async function keepLast(path: string): Promise<void> {
  try {
    await rename(path, `${path}.1`)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}
