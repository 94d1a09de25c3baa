import type { Client } from '@temporalio/client'
import type { Payload } from '@temporalio/common'
import proto from '@temporalio/proto'
import { encryptionKeyId } from '../../values/encryption/payload-codec.js'
import { collectPayloads, decodeWith, isEncryptionError, notDecrypted } from './encrypted-payloads.js'
import type { WorkflowExecution } from './history-pages.js'
import { temporalError } from './temporal-error.js'

const { History } = proto.temporal.api.history.v1
const { DescribeScheduleResponse } = proto.temporal.api.workflowservice.v1
const maxPageSize = 256

/**
 * Yields all data in the client's namespace that may refer to a value, as bytes: the histories of open and retained
 * closed workflows, and the schedules. All workflow types are included, because workflows of users may keep values in
 * the same store.
 *
 * @param isExcluded selects executions that are left out
 * @throws PtcError TEMPORAL_UNREACHABLE and others; the signal's reason
 */
export async function* gcRoots(
  client: Client,
  signal: AbortSignal,
  isExcluded: (execution: WorkflowExecution) => boolean = () => false,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const { workflowId, runId } of listExecutions(client)) {
      signal.throwIfAborted()
      if (!isExcluded({ workflowId, runId })) yield* historyBytes(client, { workflowId, runId }, signal)
    }
    for await (const { scheduleId } of client.schedule.list()) {
      const { namespace } = client.options
      const schedule = await client.workflowService.describeSchedule({ namespace, scheduleId })
      yield DescribeScheduleResponse.encode(schedule).finish()
      yield* decodedBytes(client, schedule)
    }
  } catch (thrown) {
    signal.throwIfAborted()
    throw temporalError(thrown, 'look through the runs')
  }
}

/**
 * Lists executions. It does not use the client's `list`, which fails on a memo that a codec of another client has
 * encrypted.
 */
async function* listExecutions({
  workflowService,
  options: { namespace },
}: Client): AsyncGenerator<WorkflowExecution, void, undefined> {
  let nextPageToken: Uint8Array = new Uint8Array()
  do {
    const page = await workflowService.listWorkflowExecutions({ namespace, pageSize: 1_000, nextPageToken })
    for (const { execution } of page.executions) {
      if (execution?.workflowId && execution.runId) yield { workflowId: execution.workflowId, runId: execution.runId }
    }
    nextPageToken = page.nextPageToken
  } while (nextPageToken.length > 0)
}

/**
 * Yields the encoded protobuf messages, and their payloads after the codecs. These bytes contain the references in all
 * fields.
 *
 * @throws PtcError ENCRYPTION_KEY_UNAVAILABLE, DECRYPTION_FAILED: references to values would not be found
 */
export async function* historyBytes(
  client: Client,
  execution: WorkflowExecution,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const {
    workflowService,
    options: { namespace },
  } = client
  let maximumPageSize = maxPageSize
  let nextPageToken: Uint8Array = new Uint8Array()
  do {
    signal.throwIfAborted()
    try {
      const request = { namespace, execution, maximumPageSize, nextPageToken }
      const page = await workflowService.getWorkflowExecutionHistory(request)
      if (page.history) {
        yield History.encode(page.history).finish()
        yield* decodedBytes(client, page.history)
      }
      nextPageToken = page.nextPageToken ?? new Uint8Array()
    } catch (thrown) {
      const error = temporalError(thrown, `read the history of ${execution.workflowId}`, execution.workflowId)
      // The retention period of the execution ended meanwhile.
      if (error.code === 'TEMPORAL_NOT_FOUND') return
      // A page over 4 MiB can't be sent; retry with a smaller one.
      if (maximumPageSize === 1 || isEncryptionError(error)) throw error
      maximumPageSize = Math.ceil(maximumPageSize / 4)
    }
  } while (nextPageToken.length > 0)
}

/** Yields the bytes of payloads that codecs have changed. Payloads in the store are not read here, but in the store. */
async function* decodedBytes(client: Client, message: object): AsyncGenerator<Uint8Array, void, undefined> {
  const { payloadCodecs } = client.options.loadedDataConverter
  const payloads: Payload[] = []
  collectPayloads(message, payloads)
  for (const payload of payloads) {
    const decoded = await decodeWith(payloadCodecs, payload)
    const keyId = encryptionKeyId(decoded)
    if (keyId !== undefined) throw notDecrypted(keyId)
    if (decoded !== payload && decoded.data) yield decoded.data
  }
}
