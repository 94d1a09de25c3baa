import { ApplicationFailure, ContinueAsNew, TemporalFailure } from '@temporalio/workflow'

/**
 * A plain error thrown in a workflow fails the workflow *task*, which Temporal retries for ever. Nothing here may throw
 * one; if something does all the same, it fails the run, with its message.
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
