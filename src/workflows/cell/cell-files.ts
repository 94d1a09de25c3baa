/*
 * Files between a run and the sandbox of its cells: uploads and files of tools on their way in, artifacts on their way
 * out. `files/run-files.ts` says which there are, and `session/` moves the bytes.
 */
import type { CallOutcome } from '../../common/calls/outcomes.js'
import type { FoundFile, KeptFiles, LostFile, StoredFile } from '../../common/files/files.js'
import type { DeliveredResult, StepInput } from '../../common/session/steps.js'
import type { WriteFailure } from '../session/session.js'
import type { CodeRuntime } from './code-runtime.js'

/** Stores the artifacts of a cell, unless a rule on data holds back what its code has been given. */
export async function keepArtifacts(
  { run, session, calls }: CodeRuntime,
  found: readonly FoundFile[],
): Promise<KeptFiles> {
  const decision = calls.dataFlow.decide('answer', calls.dataFlow.ofSession)
  if (decision.action !== 'allow') {
    const problem = `a rule of the configuration holds back ${decision.reason}`
    return { files: [], lost: found.map(({ path }) => ({ path, problem })) }
  }
  const kept = await session.storeFiles(found)
  run.files.addArtifacts(kept.files)
  return kept
}

/** Writes the uploads and files of tools that the sandbox does not have yet. Returns those that could not be written. */
export async function writeFiles({ run, session }: CodeRuntime): Promise<readonly LostFile[]> {
  const lost: LostFile[] = []
  const { isEmpty } = session
  const write = async (file: StoredFile, kind: 'upload' | 'returned'): Promise<void> => {
    const failure = await session.writeFile(file, kind)
    if (failure) lost.push({ path: file.path, problem: problemOfWrite(failure) })
  }
  for (const file of run.files.takeUnwritten(isEmpty)) await write(file, 'upload')
  for (const file of run.files.takeReturned(isEmpty)) await write(file, 'returned')
  return lost
}

function problemOfWrite(failure: WriteFailure): string {
  return failure.type === 'failed' ? failure.error : failure.reason
}

type DeliverInput = Extract<StepInput, { type: 'results' }>

/**
 * Writes the files of the results that a step will deliver: code that gets a path finds the file there.
 *
 * @returns the results without their files; or how the cell was lost
 */
export async function writeReturnedFiles(
  { run, session }: CodeRuntime,
  { results }: DeliverInput,
): Promise<DeliverInput | Exclude<WriteFailure, { type: 'failed' }>> {
  const delivered: DeliveredResult[] = []
  for (const { index, outcome } of results) {
    const file = returnedFileOf(outcome)
    if (!file || outcome.status !== 'ok') {
      delivered.push({ index, outcome })
      continue
    }
    run.files.writeInCell(file)
    const failure = await session.writeFile(file, 'in_cell')
    if (failure && failure.type !== 'failed') return failure
    const { file: _, ...written } = outcome
    const message = failure && `the tool has returned a file, but it could not be written: ${failure.error}`
    delivered.push({ index, outcome: message === undefined ? written : { status: 'tool_error', message } })
  }
  return { type: 'results', results: delivered }
}

/** Whether the step delivers the result of a tool that is a file. */
export function returnsFile(input: StepInput): input is DeliverInput {
  return input.type === 'results' && input.results.some(({ outcome }) => returnedFileOf(outcome))
}

function returnedFileOf(outcome: CallOutcome): StoredFile | undefined {
  return outcome.status === 'ok' ? outcome.file : undefined
}
