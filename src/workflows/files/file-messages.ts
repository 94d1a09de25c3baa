import { defineQuery, defineUpdate, setHandler } from '@temporalio/workflow'
import { problemOfUploads, type StoredFile } from '../../common/files/files.js'
import { filesMessages } from '../../common/names.js'
import type { Run } from '../run/run.js'
import { failWorkflowOnError, rejection } from '../temporal/failures.js'

const upload = defineUpdate<void, [readonly StoredFile[]]>(filesMessages.upload)
const list = defineQuery<readonly StoredFile[]>(filesMessages.list)

type RunWithFiles = Pick<Run, 'files' | 'config'>

/**
 * Handles the update by which a client uploads files, and the query for the files of a run. Called before the first
 * await of a workflow: a client may upload as soon as the workflow has started, and the SDK then rejects updates
 * without a handler.
 *
 * @param starting the run, when its configuration is known
 */
export function handleFileMessages(starting: Promise<RunWithFiles>): void {
  let started: RunWithFiles | undefined
  starting.then(
    (run) => (started = run),
    // The workflow reports the failure.
    () => undefined,
  )
  setHandler(upload, (uploads) => failWorkflowOnError(async () => add(started ?? (await starting), uploads)), {
    validator: (uploads: unknown) =>
      requireNone(started ? problemOf(started, uploads) : problemOfUploads(uploads, Infinity)),
  })
  setHandler(list, () => started?.files.all ?? [])
}

/** @throws ApplicationFailure for files that the run can't have; a client may have sent others meanwhile */
function add(run: RunWithFiles, uploads: readonly StoredFile[]): void {
  requireNone(problemOf(run, uploads))
  run.files.add(uploads)
}

function problemOf({ files, config }: RunWithFiles, uploads: unknown): string | undefined {
  return files.problemOf(uploads, config.limits.tmpBytes)
}

/** @throws ApplicationFailure */
function requireNone(problem: string | undefined): void {
  if (problem !== undefined) throw rejection('RUN_INPUT_INVALID', `the run refuses the files: ${problem}`)
}
