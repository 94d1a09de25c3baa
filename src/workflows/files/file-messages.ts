import { defineQuery, defineUpdate, setHandler } from '@temporalio/workflow'
import { type Deferred, deferred } from '../../common/async/deferred.js'
import { problemOfUploads, type StoredFile } from '../../common/files/files.js'
import { filesMessages } from '../../common/names.js'
import { failWorkflowOnError, rejection } from '../temporal/failures.js'
import type { RunFiles } from './run-files.js'

const upload = defineUpdate<void, [readonly StoredFile[]]>(filesMessages.upload)
const list = defineQuery<readonly StoredFile[]>(filesMessages.list)

/** A `Run`, which is above this folder. */
interface RunWithFiles {
  readonly files: Pick<RunFiles, 'all'>
  /** Both throw an ApplicationFailure for uploads that the run can't have. */
  requireUploads(uploads: unknown, what: string): void
  addUploads(uploads: readonly StoredFile[], what: string): void
}

/** What refuses uploads, in the message. */
const theRun = 'the run'

/** Uploads that came before the run has read its configuration. */
interface EarlyUploads {
  readonly uploads: readonly StoredFile[]
  readonly added: Deferred<void>
}

/**
 * Handles the update by which a client uploads files, and the query for the files of a run. Called before the first
 * await of a workflow: a client may upload as soon as the workflow has started, and the SDK then rejects updates
 * without a handler.
 *
 * @param starting nothing has waited for it yet: the run gets early uploads before its first code
 */
export function handleFileMessages(starting: Promise<{ readonly run: RunWithFiles }>): void {
  let started: RunWithFiles | undefined
  const early: EarlyUploads[] = []
  const begin = ({ run }: { readonly run: RunWithFiles }): void => {
    started = run
    for (const { uploads, added } of early) {
      addTo(run, uploads).then(
        () => added.resolve(),
        (thrown: unknown) => added.reject(thrown),
      )
    }
  }
  const fail = (thrown: unknown): void => {
    for (const { added } of early) added.reject(thrown)
  }
  starting.then(begin, fail)
  const add = (uploads: readonly StoredFile[]): Promise<void> => {
    if (started) return addTo(started, uploads)
    const added = deferred<void>()
    early.push({ uploads, added })
    return added.promise
  }
  setHandler(upload, (uploads) => failWorkflowOnError(() => add(uploads)), {
    validator: (uploads: unknown) => (started ? started.requireUploads(uploads, theRun) : requireStored(uploads)),
  })
  setHandler(list, () => started?.files.all ?? [])
}

/** Adds files before it returns a promise. */
async function addTo(run: RunWithFiles, uploads: readonly StoredFile[]): Promise<void> {
  run.addUploads(uploads, theRun)
}

/** Checks what can be checked without the configuration of the run. @throws ApplicationFailure */
function requireStored(uploads: unknown): void {
  const problem = problemOfUploads(uploads, Infinity)
  if (problem !== undefined) throw rejection('RUN_INPUT_INVALID', `${theRun} refuses the files: ${problem}`)
}
