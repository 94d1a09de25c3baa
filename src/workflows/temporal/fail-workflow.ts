import { ApplicationFailure, ContinueAsNew, TemporalFailure } from '@temporalio/workflow'

/**
 * Runs the body of a workflow or of an update handler. A plain error would fail the workflow task, which Temporal
 * retries without end. A plain error is a defect of the engine, and this function fails the run with code `INTERNAL`
 * and the message of the error.
 */
export async function failWorkflowOnError<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown instanceof TemporalFailure || thrown instanceof ContinueAsNew) throw thrown
    const { message, stack } = thrown instanceof Error ? thrown : { message: String(thrown), stack: undefined }
    throw ApplicationFailure.create({ message, type: 'INTERNAL', nonRetryable: true, details: [stack ?? null] })
  }
}
