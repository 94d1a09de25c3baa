import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  isCancellation,
  TemporalFailure,
  TerminatedFailure,
  TimeoutFailure,
} from '@temporalio/workflow'
import { type CallOutcome, outcomeUnknown, toCallStatus } from '../../../common/calls/outcomes.js'
import { pluralize, truncateMiddle } from '../../../common/text/text.js'
import { activityErrorOf } from '../../temporal/failures.js'
import { refusal } from '../call-options.js'
import type { RemoteTarget, ToolConfig } from '../../../common/calls/tool-config.js'

export interface RemoteToolConfig extends ToolConfig {
  readonly remote: RemoteTarget
}

const maxMessageCharacters = 2_000

/** Returns the outcome when the arguments could not be prepared: nothing ran. */
export function toPreparationOutcome(thrown: unknown): CallOutcome {
  const { code, message } = activityErrorOf(thrown)
  return { status: toCallStatus(code), message }
}

/** Returns the outcome when the result of a remote tool could not be checked or stored: the tool ran. */
export function toResultOutcome(thrown: unknown, tool: RemoteToolConfig): CallOutcome {
  const { code, message } = activityErrorOf(thrown)
  if (tool.effect === 'once' && code.startsWith('VALUE_')) return outcomeUnknown(tool.name, message)
  return { status: toCallStatus(code), message }
}

/**
 * Returns the outcome of a call that the worker of another application did not complete.
 *
 * @throws the cancellation of the run, or of the scope of the call
 */
export function toRemoteOutcome(thrown: unknown, tool: RemoteToolConfig): CallOutcome {
  if (isCancellation(thrown) && CancellationScope.current().consideredCancelled) throw thrown
  if (!(thrown instanceof TemporalFailure)) throw thrown
  if (thrown.name === 'WorkflowExecutionAlreadyStartedError') return alreadyStarted(tool)
  const cause = innermostKnown(thrown)
  if (cause instanceof TimeoutFailure) return timedOut(cause, tool)
  if (cause instanceof CancelledFailure) return unlessOnce(tool, 'cancelled', 'it was cancelled from outside')
  if (cause instanceof TerminatedFailure) return unlessOnce(tool, 'tool_error', 'it was terminated')
  const message = truncateMiddle(messageOf(cause), maxMessageCharacters)
  if (cause instanceof ApplicationFailure) {
    if (cause.type === refusal)
      return { status: 'tool_error', message: truncateMiddle(cause.message, maxMessageCharacters) }
    if (isUnknownType(cause)) return { status: 'denied', message: `${whereOf(tool)} does not have it: ${message}` }
  }
  // The Nexus handler does not have this service or operation.
  if ((cause as { readonly type?: unknown }).type === 'NOT_FOUND') return { status: 'denied', message }
  return unlessOnce(tool, 'tool_error', message)
}

/** Returns the innermost cause that has information. Outer failures often say only what was called. */
function innermostKnown(failure: Error): Error {
  const wrappers = new Set(['ActivityFailure', 'ChildWorkflowFailure', 'NexusOperationFailure'])
  const { cause } = failure
  return wrappers.has(failure.name) && cause instanceof Error ? innermostKnown(cause) : failure
}

const unnamedTypes = new Set(['', 'Error', 'OperationError'])

function messageOf(cause: Error): string {
  const { type } = cause as { readonly type?: unknown }
  return typeof type === 'string' && !unnamedTypes.has(type) ? `${type}: ${cause.message}` : cause.message
}

/**
 * Returns whether the worker did not have the activity, so that nothing ran. Each SDK reports that in a different way.
 */
function isUnknownType({ type, message }: ApplicationFailure): boolean {
  return (type === 'NotFoundError' && message.includes('not registered')) || type === 'ActivityNotRegisteredError'
}

function timedOut({ timeoutType }: TimeoutFailure, tool: RemoteToolConfig): CallOutcome {
  const { remote, timeoutMs, name } = tool
  if (remote.kind === 'activity' && timeoutType === 'SCHEDULE_TO_START') {
    const message = `no worker took ${name} from ${whereOf(tool)} within ${seconds(remote.scheduleToStartMs)}`
    return { status: 'denied', message }
  }
  if (timeoutType === 'HEARTBEAT')
    return unlessOnce(tool, 'timed_out', `${whereOf(tool)} lost it: it did not heartbeat`)
  return unlessOnce(tool, 'timed_out', `${whereOf(tool)} did not answer within ${seconds(timeoutMs)}`)
}

/** An earlier execution of this call has started the workflow, which is then not started again. */
function alreadyStarted(tool: RemoteToolConfig): CallOutcome {
  return unlessOnce(tool, 'tool_error', 'a workflow of this call exists already')
}

function unlessOnce(
  tool: RemoteToolConfig,
  status: 'cancelled' | 'tool_error' | 'timed_out',
  why: string,
): CallOutcome {
  return tool.effect === 'once' ? outcomeUnknown(tool.name, why) : { status, message: `${tool.name}: ${why}` }
}

function whereOf({ remote }: RemoteToolConfig): string {
  switch (remote.kind) {
    case 'activity':
    case 'workflow':
      return remote.taskQueue === undefined ? `${remote.kind} ${remote.type}` : `task queue ${remote.taskQueue}`
    case 'nexus':
      return `Nexus endpoint ${remote.endpoint}`
  }
}

function seconds(ms: number): string {
  return pluralize(ms / 1_000, 'second')
}
