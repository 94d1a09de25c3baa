import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { hasCode } from './file-lock.js'
import { connectable, probe } from './probe.js'
import { requireOwnState } from './state-directory.js'
import { type TemporalServer, foreignServer } from './temporal-server.js'

/** What a dev server's owner writes into the state directory, for other processes to find it. */
const serverRecord = z.object({
  /** The process that started the server and ends it. */
  owner: z.int().positive(),
  /** The server's supervisor: when it is gone, the server is gone or on its way out. */
  pid: z.int().positive(),
  /** Always of this machine: a file that came with a repository must not lead elsewhere. */
  address: z.string().regex(/^127\.0\.0\.1:\d+$/),
  namespace: z.string(),
  uiUrl: z.string().optional(),
})

export type ServerRecord = z.infer<typeof serverRecord>

const answerMs = 2_000

/**
 * The dev server that another process runs on this state directory; undefined when there is none that answers.
 * A server whose owner or supervisor is dead is on its way out (see supervise.ts) and does not count, even if it still answers.
 */
export async function findRunningDevServer(stateDirectory: string): Promise<TemporalServer | undefined> {
  const record = await readServerRecord(stateDirectory)
  if (record === undefined || !isAlive(record.owner) || !isAlive(record.pid) || !(await answers(record)))
    return undefined
  return serverOf(record)
}

export function serverOf({ address, namespace, uiUrl }: ServerRecord): TemporalServer {
  return foreignServer({ address, namespace, uiUrl, connectionOptions: { address }, origin: 'running' })
}

export async function answers({ address, namespace }: ServerRecord): Promise<boolean> {
  try {
    await connectable(address)
    await probe({ address }, namespace, answerMs)
    return true
  } catch {
    return false
  }
}

/**
 * A file that is missing, half written or of another version is no record.
 *
 * @throws PtcError CONFIG_INVALID when it belongs to another user
 */
export async function readServerRecord(stateDirectory: string): Promise<ServerRecord | undefined> {
  let text: string
  try {
    requireOwnState(stateDirectory)
    requireOwnState(recordFile(stateDirectory))
    text = await readFile(recordFile(stateDirectory), 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return undefined
    throw error
  }
  try {
    return serverRecord.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

export async function writeServerRecord(stateDirectory: string, record: ServerRecord): Promise<void> {
  const unfinished = `${recordFile(stateDirectory)}.${process.pid}`
  await writeFile(unfinished, JSON.stringify(record, null, 2), { mode: 0o600 })
  await rename(unfinished, recordFile(stateDirectory))
}

export async function removeServerRecord(stateDirectory: string): Promise<void> {
  await rm(recordFile(stateDirectory), { force: true })
}

/** Does this process exist? One that belongs to somebody else does too. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return hasCode(error, 'EPERM')
  }
}

/**
 * Does this process exist, or another of the group that it leads? A server outlives a killed supervisor for a moment,
 * does not answer any more, and has its database locked. Windows has no groups.
 */
export function isGroupAlive(pid: number): boolean {
  return isAlive(pid) || isAlive(-pid)
}

function recordFile(stateDirectory: string): string {
  return join(stateDirectory, 'temporal.json')
}
