import type { Client, WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client'
import { workflowNames } from '../../common/names.js'
import { type Redact, safeRedact } from '../../common/text/redact.js'
import { type CheckedStart, checkSize, requesterMemo, startOptions } from '../start/start-options.js'
import { withStoredData } from '../start/store-attachments.js'
import { startError } from './run-error.js'
import { type RunHandle, runHandle, type RunReaders } from './run-handle.js'

interface StartContext extends RunReaders {
  readonly client: Client
  readonly taskQueue: string
  readonly redact?: Redact | undefined
}

/** @throws PtcError RUN_INPUT_INVALID, RUN_EXISTS, TEMPORAL_UNREACHABLE, VALUE_STORE_UNKNOWN and others of the store */
export async function startRun<Result>(context: StartContext, start: CheckedStart): Promise<RunHandle<Result>> {
  const { client, taskQueue, redact } = context
  const { kind, input, text } = start
  const shown = redact ? safeRedact(redact)(text, { kind: 'question' }) : text
  const { memo: texts, ...options } = startOptions(start, taskQueue, shown)
  checkSize(text, 'input' in input ? input.input : undefined, client.options.loadedDataConverter)
  const memo = { ...texts, ...requesterMemo(input.context) }
  const args = [await withStoredData(client, input)]
  let handle: WorkflowHandleWithFirstExecutionRunId
  try {
    handle = await client.workflow.start(workflowNames[kind], { ...options, memo, args })
  } catch (thrown) {
    throw await startError(client, thrown)
  }
  return runHandle(client, handle, handle.firstExecutionRunId, context)
}
