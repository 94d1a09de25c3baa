import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Client,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type WorkflowUpdateHandle,
  WorkflowUpdateStage,
} from '@temporalio/client'
import type {
  AnswerRequest,
  AnswerResult,
  ConversationAnswer,
  InterruptConversationInput,
} from '../../common/conversation/conversation.js'
import { raceWithSignal } from '../../common/async/abort.js'
import { PtcError } from '../../common/errors.js'
import { conversationMessages } from '../../common/names.js'
import { runError } from '../run/run-error.js'
import { runInfo } from '../run/run-info.js'
import { queryRun } from '../temporal/query-run.js'
import { retryLongPoll } from '../temporal/retry.js'
import { isFailedPrecondition, temporalError } from '../temporal/temporal-error.js'
import { isRepeatableUpdate, isUnanswered } from '../temporal/update-errors.js'
import { failWithoutWorker } from '../workers/worker-availability.js'
import { withRequestSignal } from '../temporal/request-signal.js'

/** The data of a conversation for requests to it. */
export interface ConversationRef {
  readonly client: Client
  readonly name: string
  readonly workflowId: string
}

/** The update that sent a message, or that asks for its answer. */
export type UpdateHandle = WorkflowUpdateHandle<AnswerResult>

/** Pause between two requests. While a conversation continues as new, it may refuse an update. */
const busyPauseMs = 200

/**
 * Waits for an answer over the continue-as-new chain.
 *
 * @param first the update of the execution that accepted the message
 * @param signal ends the waiting
 */
export async function waitForAnswer(
  conversation: ConversationRef,
  id: string,
  first: UpdateHandle | undefined,
  signal?: AbortSignal,
): Promise<ConversationAnswer> {
  const { client, workflowId } = conversation
  const ask = (updateId: string): Promise<UpdateHandle> =>
    client.workflow.getHandle(workflowId).startUpdate<AnswerResult, [AnswerRequest]>(conversationMessages.answer, {
      args: [{ id }],
      updateId,
      waitForStage: WorkflowUpdateStage.ACCEPTED,
    })
  for (let handle = first; ; handle = undefined) {
    const updateId = randomUUID()
    const wait = async (): Promise<AnswerResult> => (handle ?? (await ask(updateId))).result()
    const result = await request(conversation, wait, signal)
    if (result.type === 'answered') return result.answer
    await delay(busyPauseMs)
  }
}

/** Sends a request, and repeats it while the server is unavailable. An update has an id, so it is accepted once. */
export async function request<Result>(
  conversation: ConversationRef,
  send: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  if (signal === undefined) return requestAgain(conversation, send)
  return raceWithSignal(
    signal,
    requestAgain(conversation, () => {
      signal.throwIfAborted()
      return withRequestSignal(conversation.client, signal, send)
    }),
  )
}

/**
 * Waits until an update is accepted. The request also settles when the workflow has rejected the update: then the
 * outcome is known, and no further request is needed.
 *
 * @throws WorkflowUpdateFailedError of a rejected update, and of an update that has failed since
 */
export async function requireAccepted(client: Client, sending: Promise<UpdateHandle>): Promise<UpdateHandle> {
  const handle = await sending
  try {
    await client.connection.withDeadline(Date.now() - 1, () => handle.result())
  } catch (thrown) {
    if (thrown instanceof WorkflowUpdateFailedError) throw thrown
  }
  return handle
}

async function requestAgain<Result>(conversation: ConversationRef, send: () => Promise<Result>): Promise<Result> {
  const isRetryable = (thrown: unknown): boolean => isRepeatableUpdate(thrown) || isFailedPrecondition(thrown)
  try {
    return await retryLongPoll(send, { isRetryable, aliveAfterMs: longPollMs })
  } catch (thrown) {
    throw await requestError(conversation, thrown)
  }
}

/** The server answers a long poll within 20 s. */
const longPollMs = 15_000

/** Returns the error of a request. If the conversation ended before it answered, the error is its own failure. */
async function requestError(conversation: ConversationRef, thrown: unknown): Promise<PtcError> {
  const { client, workflowId } = conversation
  if (!isUnanswered(thrown)) return conversationError(conversation, thrown)
  try {
    await client.workflow.getHandle(workflowId).result()
    return closedError(conversation)
  } catch (ended) {
    return conversationError(conversation, ended)
  }
}

export async function interruptWork(
  conversation: ConversationRef,
  what: InterruptConversationInput['what'],
): Promise<void> {
  const { client, workflowId } = conversation
  const args: [InterruptConversationInput] = [{ what }]
  try {
    await client.workflow.getHandle(workflowId).signal(conversationMessages.interrupt, ...args)
  } catch (thrown) {
    if (thrown instanceof WorkflowNotFoundError) await requireOpen(conversation)
    throw conversationError(conversation, thrown)
  }
}

/** @param runId of any execution of the conversation, from {@link describeConversation} or {@link requireOpen} */
export async function query<Result>(conversation: ConversationRef, runId: string, name: string): Promise<Result> {
  const { client, workflowId } = conversation
  try {
    const awaitedWork = { failedAction: `can't ask conversation ${conversation.name}`, isQuery: true }
    const result = await failWithoutWorker(client, { workflowId, runId }, awaitedWork, () =>
      queryRun<Result>(client, { workflowId }, name),
    )
    if (result === undefined) throw closedError(conversation)
    return result
  } catch (thrown) {
    throw conversationError(conversation, thrown)
  }
}

/** @throws PtcError CONVERSATION_NOT_FOUND, CONVERSATION_CLOSED, TEMPORAL_UNREACHABLE */
export async function requireOpen(conversation: ConversationRef): Promise<{ readonly runId: string }> {
  const { runId, status } = await describeConversation(conversation)
  if (status !== 'running') throw closedError(conversation)
  return { runId }
}

/** @throws PtcError CONVERSATION_NOT_FOUND, TEMPORAL_UNREACHABLE */
export async function describeConversation(conversation: ConversationRef): Promise<ReturnType<typeof runInfo>> {
  const { client, workflowId } = conversation
  try {
    return runInfo(await client.workflow.getHandle(workflowId).describe())
  } catch (thrown) {
    throw conversationError(conversation, thrown)
  }
}

export function conversationError({ name, workflowId }: ConversationRef, thrown: unknown): PtcError {
  const error =
    thrown instanceof WorkflowNotFoundError
      ? temporalError(thrown, `use conversation ${name}`, workflowId)
      : runError(thrown, workflowId)
  if (error.code !== 'TEMPORAL_NOT_FOUND') return error
  return new PtcError('CONVERSATION_NOT_FOUND', `there is no open conversation ${name}`, { cause: thrown })
}

function closedError({ name }: ConversationRef): PtcError {
  return new PtcError('CONVERSATION_CLOSED', `conversation ${name} is closed`, {
    hint: 'A message starts a new conversation of this name.',
  })
}
