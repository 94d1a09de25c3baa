import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { hasErrorCode } from '../common/system-error.js'
import { probeTcp, probeNamespace } from './probe.js'
import { requireOwnState } from './state-directory.js'
import { type TemporalServer, existingServer } from './temporal-server.js'

/** Written into the state directory by the owner of a dev server, so that other processes find the server. */
const serverRecord = z.object({
  /** Id of the process that started the server and ends it. */
  owner: z.int().positive(),
  /** Id of the server's supervisor: without it, the server has ended or is about to end. */
  pid: z.int().positive(),
  /** Only on this machine: a file that came with a repository must not name another server. */
  address: z.string().regex(/^127\.0\.0\.1:\d+$/),
  namespace: z.string(),
  uiUrl: z.string().optional(),
})

type ServerRecord = z.infer<typeof serverRecord>

const timeoutMs = 2_000

/**
 * Finds the dev server that another process runs on this state directory; undefined when none answers. A server whose
 * owner or supervisor is dead is about to end (see supervise.ts) and does not count, even if it still answers.
 */
export async function findRunningDevServer(stateDirectory: string): Promise<TemporalServer | undefined> {
  const record = await readServerRecord(stateDirectory)
  if (record === undefined || !isAlive(record.owner) || !isAlive(record.pid) || !(await isResponding(record)))
    return undefined
  return toTemporalServer(record)
}

export function toTemporalServer({ address, namespace, uiUrl }: ServerRecord): TemporalServer {
  return existingServer({ address, namespace, uiUrl, connectionOptions: { address }, origin: 'running' })
}

export async function isResponding({ address, namespace }: ServerRecord): Promise<boolean> {
  try {
    await probeTcp(address)
    await probeNamespace({ address }, namespace, timeoutMs)
    return true
  } catch {
    return false
  }
}

/**
 * Reads the record; undefined when the file is missing or invalid.
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
    if (hasErrorCode(error, 'ENOENT') || hasErrorCode(error, 'ENOTDIR')) return undefined
    throw error
  }
  try {
    return serverRecord.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

export async function writeServerRecord(stateDirectory: string, record: ServerRecord): Promise<void> {
  const temporaryFile = `${recordFile(stateDirectory)}.${process.pid}`
  await writeFile(temporaryFile, JSON.stringify(record, null, 2), { mode: 0o600 })
  await rename(temporaryFile, recordFile(stateDirectory))
}

export async function removeServerRecord(stateDirectory: string): Promise<void> {
  await rm(recordFile(stateDirectory), { force: true })
}

/** True if this process exists, even when it belongs to another user. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return hasErrorCode(error, 'EPERM')
  }
}

/**
 * True if this process or another one of its process group exists. A server outlives a killed supervisor for a moment:
 * it no longer answers, and still locks its database. Windows has no process groups.
 */
export function isProcessGroupAlive(pid: number): boolean {
  return isAlive(pid) || isAlive(-pid)
}

function recordFile(stateDirectory: string): string {
  return join(stateDirectory, 'temporal.json')
}
