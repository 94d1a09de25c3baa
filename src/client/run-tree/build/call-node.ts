import { approvalKey, isApprovalKey } from '../../../common/calls/approvals.js'
import { questionKey } from '../../../common/calls/questions.js'
import { toolUseCaller } from '../../../common/agent/hosted-code.js'
import { isLostWorkerFailure, toCallStatus } from '../../../common/calls/outcomes.js'
import { defined } from '../../../common/defined.js'
import { type CallDraft, isDeferred, resultOf, type RunTools } from './draft.js'
import type { DecisionInput } from '../history/activity-payloads.js'
import type { ActivityRecord } from '../history/activity-record.js'
import type { FetchedValues } from '../values/fetched-values.js'
import { encodeCompletionToken } from '../../../common/calls/completion-token.js'
import { type CallNode, type CompensationNode, type Failure, isPending, type PendingStatus } from '../tree.js'
import type { CallDecision, DeferredWait, QuestionWait } from '../waits.js'

export interface CallContext {
  /** True when the run has ended. Its open activities are interrupted. */
  readonly isRunEnded: boolean
  readonly tools: RunTools
  readonly namespace: string
  readonly workflowId: string
  readonly fetched: FetchedValues
  readonly cache: CallNodes
}

export type CallNodes = WeakMap<CallDraft, CallNode>

interface CallEnding {
  readonly status: CallNode['status']
  readonly message?: string | undefined
}

/** Returns the node of a call. Once the call has ended, every tree has the same object. */
export function cachedCallNode(call: CallDraft, context: CallContext, codeUse: string | undefined): CallNode {
  const cached = context.cache.get(call)
  if (cached) return cached
  const node = callNode(call, context, codeUse)
  const last = call.check ?? call.activity
  const isCompensating = call.compensation !== undefined && call.compensation.end === undefined
  const isSettled =
    node.deferred === undefined &&
    node.question === undefined &&
    !isCompensating &&
    (last ? last.end !== undefined : !isPending(node.status))
  if (isSettled) context.cache.set(call, node)
  return node
}

function callNode(call: CallDraft, context: CallContext, codeUse: string | undefined): CallNode {
  const { activity, described } = call
  const input = activity?.input.type === 'tool' ? activity.input.call : undefined
  const open = activity?.end ? undefined : activity
  const deferred = deferredWaitOf(call, context)
  const approval = approvalWaitOf(call, context)
  const question = questionWaitOf(call, context)
  const { status, message }: CallEnding = deferred || question ? { status: 'running' } : callEndingOf(call, context)
  const { result, endedAt } = endOf(call)
  // The type of a remote activity may differ from the name of the tool.
  const tool = described?.tool ?? input?.tool ?? ''
  const config = context.tools.get(tool)
  return {
    tool,
    summary: described?.summary ?? activity?.summary ?? tool,
    arguments: context.fetched.arguments(input?.arguments ?? described?.arguments ?? {}),
    caller: call.cell === 0 ? 'direct' : 'code_execution',
    ...toolUseCaller(defined({ toolUseId: codeUse })),
    ...defined({ toolUse: call.toolUseId }),
    position: { turn: call.turn, cell: call.cell, index: call.index },
    idempotencyKey: input?.idempotencyKey,
    ...(activity?.workflowId !== undefined && { workflowId: activity.workflowId }),
    step: call.step,
    startedAt: activity?.scheduledAt ?? call.createdAt,
    endedAt: deferred || question ? undefined : activity ? endedAt : isPending(status) ? undefined : call.createdAt,
    attempts: activity?.attempts ?? 0,
    lastFailure: activity?.lastFailure,
    // The server also counts attempts on workers without the tool.
    ...(open && defined({ maxAttempts: config?.attempts, nextAttemptAt: open.nextAttemptAt })),
    blocked: activity?.blockedNote,
    status,
    deferred,
    ...defined({ approval, question }),
    ...(call.decision && { decision: decisionOf(call, call.decision) }),
    ...(open?.progress !== undefined && { progress: open.progress }),
    ...(status === 'waiting' && !activity && !approval && slotWait(config)),
    ...(call.compensation && { compensation: compensationNode(call.compensation, context.isRunEnded) }),
    message,
    resultPreview: result?.ref ? context.fetched.preview(result.ref) : result?.preview,
    resultRef: result?.ref,
    resultBytes: result?.bytes ?? 0,
    ...(result?.file && { file: result.file }),
  }
}

function slotWait(config: ReturnType<RunTools['get']>): Pick<CallNode, 'waitsForSlot' | 'waitsForLock'> {
  if (config?.lock !== undefined) return { waitsForLock: true }
  return config?.concurrency === undefined ? {} : { waitsForSlot: true }
}

/** Returns the times and attempts of an activity. */
export function attemptsOf({ scheduledAt, end, attempts, lastFailure }: ActivityRecord) {
  return { startedAt: scheduledAt, endedAt: end?.at, attempts, lastFailure }
}

function decisionOf({ described, approval }: CallDraft, record: DecisionInput): CallDecision {
  const { result, by, at, idempotencyKey } = record
  const isApproval = isApprovalKey(idempotencyKey)
  const isPositive = result.type === 'value'
  const asked = approval?.input.type === 'approval' ? approval.input.request.arguments : described?.arguments
  const isReplaced = result.type === 'value' && isApproval && result.replacesArguments
  return {
    decision: isApproval ? (isPositive ? 'approved' : 'denied') : isPositive ? 'completed' : 'failed',
    ...defined({ by }),
    at,
    ...(isReplaced && asked && { replacedArguments: asked }),
    ...(result.type === 'value' && result.remembers && { remembered: true }),
  }
}

function compensationNode(record: ActivityRecord, isRunEnded: boolean): CompensationNode {
  const { end } = record
  const base = attemptsOf(record)
  if (end === undefined) return { ...base, status: pendingStatus(record, isRunEnded) }
  return end.type === 'completed' ? { ...base, status: 'ok' } : { ...base, status: 'failed', failure: end.failure }
}

/**
 * Returns the end of a call: the check of its result, if there is one. A deferred call without a check ends when its
 * caller got the result.
 */
function endOf(call: CallDraft) {
  const { activity, check, deliveredAt } = call
  if (!check && isDeferred(call) && activity?.end?.type === 'completed') {
    return { result: undefined, endedAt: deliveredAt }
  }
  const last = check ?? activity
  return { result: last && resultOf(last, 'tool'), endedAt: last?.end?.at }
}

/** Returns undefined for a call that does not wait for its result. */
function deferredWaitOf(
  { activity, delivered, check }: CallDraft,
  { isRunEnded, tools, namespace, workflowId }: CallContext,
): DeferredWait | undefined {
  const call = activity?.input.type === 'tool' ? activity.input.call : undefined
  if (!call?.deferred || activity?.end?.type !== 'completed' || delivered || check || isRunEnded) return undefined
  const { at: since } = activity.end
  const token = { namespace, workflowId, idempotencyKey: call.idempotencyKey ?? '', ...call.deferred }
  const expiresAt = since + (tools.get(call.tool)?.deferred?.expiresMs ?? 0)
  return { since, expiresAt, completionToken: encodeCompletionToken(token) }
}

/** Returns undefined for a call that does not wait for its approval according to the history. */
function approvalWaitOf(
  { approval, activity, delivered, decision }: CallDraft,
  { isRunEnded, namespace, workflowId }: CallContext,
): DeferredWait | undefined {
  if (approval?.input.type !== 'approval' || activity || delivered || decision || isRunEnded) return undefined
  if (resultOf(approval, 'approval')?.isNeeded !== true || approval.end === undefined) return undefined
  const { idempotencyKey, deferred, expiresMs } = approval.input.request
  const token = { namespace, workflowId, idempotencyKey: approvalKey(idempotencyKey), ...deferred }
  const { at: since } = approval.end
  return { since, expiresAt: since + expiresMs, completionToken: encodeCompletionToken(token) }
}

/** Returns undefined for a call that does not wait for the answer to a question according to the history. */
function questionWaitOf(
  { question, delivered }: CallDraft,
  { isRunEnded, namespace, workflowId }: CallContext,
): QuestionWait | undefined {
  if (question?.input.type !== 'question' || delivered || isRunEnded) return undefined
  const { idempotencyKey, number, deferred, expiresMs, question: asked } = question.input.asked
  const token = { namespace, workflowId, idempotencyKey: questionKey(idempotencyKey, number), ...deferred }
  const since = question.scheduledAt
  const shown = { from: asked.from, message: asked.message, ...defined({ schema: asked.schema, url: asked.url }) }
  return { since, expiresAt: since + expiresMs, completionToken: encodeCompletionToken(token), ...shown }
}

/** Returns the end of a call. The outcome that the caller got takes precedence over the end of the activity. */
function callEndingOf(
  { described, delivered, activity, check }: CallDraft,
  { isRunEnded, tools }: CallContext,
): CallEnding {
  if (described?.refused) return described.refused
  if (delivered) return delivered
  const last = check ?? activity
  switch (last?.end?.type) {
    case 'completed':
      return { status: 'ok' }
    case 'cancelled':
      return { status: 'cancelled', message: last.end.failure.message }
    case 'failed':
      return failedEnding(
        last.end.failure,
        activity?.input.type === 'tool' && tools.get(activity.input.call.tool)?.effect === 'once',
      )
    case undefined:
      return { status: pendingStatus(last, isRunEnded) }
  }
}

export function pendingStatus(activity: ActivityRecord | undefined, isRunEnded: boolean): PendingStatus {
  if (isRunEnded) return 'interrupted'
  return activity?.started ? 'running' : 'waiting'
}

function failedEnding({ code, message }: Failure, isOnceTool: boolean): CallEnding {
  const isWorkerLost = code.startsWith('TIMED_OUT_') || isLostWorkerFailure(code)
  const status = isWorkerLost ? 'timed_out' : toCallStatus(code)
  return { status: isOnceTool && status === 'timed_out' ? 'outcome_unknown' : status, message }
}
