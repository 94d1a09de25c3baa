import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, WorkflowNotFoundError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client'
import { digestJson } from '../../common/calls/call-identity.js'
import { type CompleteCallInput, type DeferredResult, maxDeciderLength } from '../../common/calls/deferred-calls.js'
import { messageOf, PtcError } from '../../common/errors.js'
import type { JsonValue } from '../../common/json/json.js'
import { completeCallUpdate } from '../../common/names.js'
import { decodeCompletionToken } from '../../common/calls/completion-token.js'
import { describeLatestExecution } from '../temporal/describe-execution.js'
import { runError } from '../run/run-error.js'
import { checkKeys } from '../start/check-input.js'
import { checkInlineSize } from '../start/start-options.js'
import { ConcurrencyLimit } from '../../common/async/concurrency-limit.js'
import { requireWorkers } from '../workers/task-queue.js'
import { isFailedPrecondition } from '../temporal/temporal-error.js'
import { isRepeatableUpdate, isUnanswered, updateFailureType } from '../temporal/update-errors.js'
import { takeStart } from '../../common/text/text.js'

/** Maximum milliseconds during which a request is repeated while the run or the server refuses it. */
const maxRefusedMs = 120_000

/** After this time without a response, the client checks whether the run has a worker. */
const responseTimeoutMs = 20_000

/**
 * Temporal accepts ten concurrent updates of a run, and refuses the others for a while. Hundreds of repeated requests
 * leave the run no time to respond. So this process sends only a few at a time, and leaves room for other processes.
 */
const requests = new ConcurrencyLimit(5)

/** The first pause between two requests; it doubles up to the last. */
const firstPauseMs = 50
const lastPauseMs = 1_000

export interface CompleteOptions {
  /**
   * The person or program that decided, for the history and the audit log of the run: up to 200 characters. Default:
   * the identity of Temporal's client, such as `4711@host`.
   */
  readonly by?: string
}

export interface FailOptions extends CompleteOptions {
  /** Only for a question of an MCP server: nobody decided. Default false: the person declined to answer. */
  readonly cancel?: boolean
}

/** Sends that a deferred call has failed, or that a question gets no answer. */
export async function failCall(
  client: Client,
  token: string,
  message: string,
  options: FailOptions = {},
): Promise<void> {
  checkKeys('the options', options, ['by', 'cancel'])
  const { cancel = false, ...by } = options
  await completeCall(client, token, { type: 'failure', message, ...(cancel && { cancel }) }, by)
}

/**
 * Sends the result of a deferred call to the run that waits for it. Settles when the run has checked and recorded it.
 *
 * @throws PtcError with a code of `docs/reference/errors.md`
 */
export async function completeCall(
  client: Client,
  token: string,
  result: DeferredResult,
  options: CompleteOptions = {},
): Promise<void> {
  const by = deciderOf(options, client)
  const { namespace, workflowId, firstExecutionRunId, idempotencyKey, signature } = decodeCompletionToken(token)
  if (namespace !== client.options.namespace) {
    throw new PtcError(
      'COMPLETION_TOKEN_INVALID',
      `the token is of namespace ${namespace}, and this client uses ${client.options.namespace}`,
      { hint: 'Connect to the namespace of the run.' },
    )
  }
  const json = toJson(result)
  checkInlineSize(Buffer.byteLength(JSON.stringify(json)), client.options.loadedDataConverter)
  const digest = digestJson(json)
  const input: CompleteCallInput = { idempotencyKey, signature, digest, result: json, by }
  const handle = client.workflow.getHandle(workflowId, undefined, { firstExecutionRunId })
  // Each request has the same id, so that a repeated request gets the response of the first one.
  const update = { updateId: randomUUID(), args: [input] as [CompleteCallInput] }
  const send = () => handle.executeUpdate<void, [CompleteCallInput]>(completeCallUpdate, update)
  await requests.run(() => sendUntilTaken(client, workflowId, send), `${namespace} ${workflowId}`)
}

/** @throws PtcError RUN_INPUT_INVALID */
function deciderOf(options: CompleteOptions, client: Client): string {
  checkKeys('the options', options, ['by'])
  const { by = takeStart(client.options.identity, maxDeciderLength) } = options
  if (typeof by === 'string' && by.trim() !== '' && by.length <= maxDeciderLength) return by
  throw new PtcError('RUN_INPUT_INVALID', `by: it must be a text of 1 to ${maxDeciderLength} characters`)
}

/** Sends a request again while the run or the server refuses it. */
async function sendUntilTaken(client: Client, workflowId: string, send: () => Promise<void>): Promise<void> {
  const startedAt = performance.now()
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, lastPauseMs)) {
    try {
      return await client.connection.withDeadline(Date.now() + responseTimeoutMs, send)
    } catch (thrown) {
      if (!isRepeatable(thrown) || performance.now() - startedAt > maxRefusedMs) throw toError(thrown, workflowId)
      if (thrown instanceof WorkflowUpdateRPCTimeoutOrCancelledError) await assertHasWorker(client, workflowId)
      if (isFromClosedExecution(thrown)) await assertContinues(client, workflowId, thrown)
      await delay(pauseMs)
    }
  }
}

/** @throws PtcError WORKER_MISSING when no worker has polled the task queue of the run for a minute */
async function assertHasWorker(client: Client, workflowId: string): Promise<void> {
  const { taskQueue } = await describeLatestExecution(client, { workflowId, runId: undefined })
  await requireWorkers(client, taskQueue, ['workflow'])
}

/**
 * @throws PtcError CALL_NOT_FOUND when no execution follows the closed one: then each repetition of the request would
 *   get the same response
 */
async function assertContinues(client: Client, workflowId: string, thrown: unknown): Promise<void> {
  const { status } = await describeLatestExecution(client, { workflowId, runId: undefined })
  if (status.name !== 'RUNNING') throw callGoneError(workflowId, thrown)
}

/** Removes undefined members, which do not exist in JSON. */
function toJson(result: DeferredResult): DeferredResult {
  if (result.type === 'failure') return result
  const json = stringify(result.value)
  if (json === undefined) throw new PtcError('RUN_INPUT_INVALID', 'the result is not JSON')
  return { type: 'value', value: JSON.parse(json) as JsonValue }
}

function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw new PtcError('RUN_INPUT_INVALID', `the result is not JSON: ${messageOf(cause)}`, { cause })
  }
}

/**
 * Returns true when the run continues as new, has ten updates in progress or a failing workflow task, or when the
 * server is unavailable.
 */
function isRepeatable(thrown: unknown): boolean {
  if (isRepeatableUpdate(thrown) || isFromClosedExecution(thrown) || isFailedPrecondition(thrown)) return true
  return updateFailureType(thrown) === 'RUN_BUSY'
}

/**
 * Returns true when the execution closed before it responded to the update. Another execution may accept the update,
 * because the run has continued as new, or was reset.
 */
function isFromClosedExecution(thrown: unknown): boolean {
  // An update that an execution accepted is not found in the next one. An update that it did not accept was aborted.
  if (thrown instanceof WorkflowNotFoundError) return thrown.message.includes('update ')
  return isUnanswered(thrown)
}

function toError(thrown: unknown, workflowId: string): PtcError {
  return thrown instanceof WorkflowNotFoundError ? callGoneError(workflowId, thrown) : runError(thrown, workflowId)
}

function callGoneError(workflowId: string, cause: unknown): PtcError {
  return new PtcError('CALL_NOT_FOUND', `no call with this token waits: run ${workflowId} has ended`, { cause })
}
