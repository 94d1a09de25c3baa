import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Client } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import { type FileUpload, findFile, type StoredFile } from '../../common/files/files.js'
import { filesMessages } from '../../common/names.js'
import { readStoredFile } from '../../files/index.js'
import { runError } from '../run/run-error.js'
import { assertIsOpen } from '../run/use-budget.js'
import { queryRun } from '../temporal/query-run.js'
import { retryLongPoll } from '../temporal/retry.js'
import { isRepeatableUpdate } from '../temporal/update-errors.js'
import { failWithoutWorker } from '../workers/worker-availability.js'
import { clientValues } from './client-values.js'
import { storeUploads, type TransferOptions } from './store-uploads.js'

/** The files of one run: its uploads, and the artifacts of its code. Also of a run that has ended. */
export interface RunFiles {
  /** Returns the files, the latest of each path. */
  list(): Promise<readonly StoredFile[]>
  /**
   * Yields the bytes of a file, in parts of some MiB. The last part comes when all bytes were checked.
   *
   * @param file a file of {@link list} or of a result, or a path; a relative path is in `/tmp/out` or `/tmp/in`
   */
  read(file: StoredFile | string, options?: TransferOptions): AsyncGenerator<Uint8Array, void, undefined>
  /** Writes a file to this machine, whole or not at all. */
  download(file: StoredFile | string, to: string, options?: TransferOptions): Promise<void>
  /** Uploads files to the run. The sandbox has them before the next cell begins. */
  upload(files: readonly FileUpload[], options?: TransferOptions): Promise<readonly StoredFile[]>
}

export function runFiles(client: Client, workflowId: string): RunFiles {
  const ask = async <Result>(isQuery: boolean, work: () => Promise<Result>): Promise<Result> => {
    const awaited = { failedAction: `can't reach run ${workflowId}`, isQuery }
    try {
      return await failWithoutWorker(client, { workflowId, runId: undefined }, awaited, work)
    } catch (thrown) {
      throw PtcError.isInstance(thrown) ? thrown : runError(thrown, workflowId)
    }
  }

  async function list(): Promise<readonly StoredFile[]> {
    const found = await ask(true, () => queryRun<readonly StoredFile[]>(client, { workflowId }, filesMessages.list))
    if (found === undefined)
      throw new PtcError('TEMPORAL_NOT_FOUND', `run ${workflowId} does not exist, or has no files`)
    return found
  }

  async function find(path: string): Promise<StoredFile> {
    const file = findFile(await list(), path)
    if (file) return file
    throw new PtcError('FILE_NOT_FOUND', `run ${workflowId} has no file ${path}`)
  }

  async function* read(
    file: StoredFile | string,
    { signal = new AbortController().signal, onProgress }: TransferOptions = {},
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const found = typeof file === 'string' ? await find(file) : file
    for await (const part of readStoredFile(await clientValues(client, 'files'), found, signal)) {
      yield part
      onProgress?.(part.length)
    }
  }

  return {
    list,
    read,
    async download(file, to, options) {
      const unfinished = `${to}.${randomUUID()}.part`
      try {
        await pipeline(read(file, options), createWriteStream(unfinished, { flags: 'wx' }))
        await rename(unfinished, to)
      } catch (thrown) {
        await rm(unfinished, { force: true })
        throw thrown
      }
    },
    async upload(files, options) {
      // A run that does not exist or has ended is an error before bytes are stored.
      await assertIsOpen(client, workflowId)
      const stored = await storeUploads(client, files, options)
      const request = { args: [stored] as [readonly StoredFile[]], updateId: randomUUID() }
      const handle = client.workflow.getHandle(workflowId)
      const send = () => handle.executeUpdate<void, [readonly StoredFile[]]>(filesMessages.upload, request)
      await ask(false, () => retryLongPoll(send, { isRetryable: isRepeatableUpdate }))
      return stored
    },
  }
}
