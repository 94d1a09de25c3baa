import { callStatusOf, workerShutdown } from '../../common/call-status.js'
import { answerOf, type CallDraft } from './draft.js'
import type { ActivityRecord } from './activity-log.js'
import type { FetchedValues } from './fetched-values.js'
import { type CallNode, type Failure, isPending, type PendingStatus } from './tree.js'

export interface CallSurroundings {
  /** The run has ended: what is open stays so. */
  readonly over: boolean
  readonly onceTools: ReadonlySet<string>
  readonly fetched: FetchedValues
}

interface Ending {
  readonly status: CallNode['status']
  readonly message?: string | undefined
}

export function callNode(call: CallDraft, around: CallSurroundings): CallNode {
  const { activity, described } = call
  const input = activity?.work.type === 'tool' ? activity.work.call : undefined
  const { status, message } = endingOf(call, around)
  const result = activity && answerOf(activity, 'tool')
  const tool = input?.tool ?? described?.tool ?? ''
  return {
    tool,
    summary: described?.summary ?? activity?.summary ?? tool,
    arguments: around.fetched.arguments(input?.arguments ?? described?.arguments ?? {}),
    caller: call.cell === 0 ? 'direct' : 'code_execution',
    position: { turn: call.turn, cell: call.cell, index: call.index },
    idempotencyKey: input?.idempotencyKey,
    step: call.step,
    startedAt: activity?.scheduledAt ?? call.madeAt,
    endedAt: activity ? activity.end?.at : isPending(status) ? undefined : call.madeAt,
    attempts: activity?.attempts ?? 0,
    lastFailure: activity?.lastFailure,
    blocked: activity?.blocked,
    status,
    message,
    resultPreview: result?.ref ? around.fetched.beginning(result.ref) : result?.preview,
    resultRef: result?.ref,
    resultBytes: result?.bytes ?? 0,
  }
}

/** The caller's own knowledge first; until it has any, what the activity says. */
function endingOf({ described, told, activity }: CallDraft, { over, onceTools }: CallSurroundings): Ending {
  if (described?.refused) return described.refused
  if (told) return told
  switch (activity?.end?.type) {
    case 'completed':
      return { status: 'ok' }
    case 'cancelled':
      return { status: 'cancelled', message: activity.end.failure.message }
    case 'failed':
      return failed(activity.end.failure, activity.work.type === 'tool' && onceTools.has(activity.work.call.tool))
    case undefined:
      return { status: pendingStatus(activity, over) }
  }
}

export function pendingStatus(activity: ActivityRecord | undefined, over: boolean): PendingStatus {
  if (over) return 'interrupted'
  return activity?.started ? 'running' : 'waiting'
}

function failed({ code, message }: Failure, once: boolean): Ending {
  const lostWorker = code.startsWith('TIMED_OUT_') || code === workerShutdown
  const status = lostWorker ? 'timed_out' : callStatusOf(code)
  return { status: once && status === 'timed_out' ? 'outcome_unknown' : status, message }
}
