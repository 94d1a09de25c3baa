import { PtcError } from '../../common/errors.js'
import type { DriverEvent, Effect } from './driver-events.js'
import { abandonOperation, endOperation, lose, proceed, startTimer, unchanged } from './driver-operations.js'
import {
  type DriverState,
  type EventOf,
  type OpenState,
  operationKey,
  type SnapshotOperation,
  type StepOperation,
  type Transition,
  withExecution,
} from './driver-state.js'
import { isSameStep, type PendingStep } from './pending-step.js'
import { receive } from './receive-message.js'
import { noSnapshot } from './snapshot-receiver.js'
import { parseMsPerMebibyte, stopGraceMs } from './step-timeout.js'

/**
 * Maximum number of connections over which code is interrupted at its limit. Each one gives the code another grace
 * period, so the number is small.
 */
export const maximumStopAttempts = 3

/** The transition table of driver-state.ts. Returns the same state object when nothing changes. */
export function transition(state: DriverState, event: DriverEvent): Transition {
  if (state.type === 'lost') {
    if (event.type !== 'snapshot') return { state, effects: [] }
    return { state, effects: [{ ...event, type: 'resolveSnapshot', snapshot: noSnapshot(state.result.reason) }] }
  }
  switch (event.type) {
    case 'execute':
      return execute(state, event)
    case 'snapshot':
      return startSnapshot(state, event)
    case 'helloSent':
      return state.handshake === 'sendingHello' ? proceed({ ...state, handshake: 'helloSent' }) : unchanged(state)
    case 'helloFailed':
      return state.handshake === 'sendingHello'
        ? abandonOperation({ ...state, handshake: 'new' }, event.error)
        : unchanged(state)
    case 'message':
      return receive(state, event.message)
    case 'writeFailed':
      return lose(state, 'gone', `the sandbox takes no input: ${event.reason}`)
    case 'violation':
      return lose(state, 'protocol', event.reason, { kill: true })
    case 'ended':
      return lose(state, event.cause, event.reason)
    case 'replaced': {
      // A step that is tried again here would take the sandbox away from the worker that has it now.
      const reason = 'another worker has taken over the sandbox'
      const { effects } = abandonOperation(state, new PtcError('SANDBOX_FENCED', reason))
      const lost = lose({ ...state, operation: { type: 'idle' } }, 'gone', reason)
      return { state: lost.state, effects: [...effects, ...lost.effects] }
    }
    case 'stepSent': {
      const next = { ...state, lastTakenStep: Math.max(state.lastTakenStep, event.attempt.message.step) }
      return inOperation(next, event)
    }
    default:
      return inOperation(state, event)
  }
}

type OperationEvent = Exclude<
  DriverEvent,
  {
    type:
      | 'execute'
      | 'snapshot'
      | 'helloSent'
      | 'helloFailed'
      | 'message'
      | 'writeFailed'
      | 'violation'
      | 'ended'
      | 'replaced'
  }
>

function inOperation(state: OpenState, event: OperationEvent): Transition {
  const { operation } = state
  if (operation.type === 'idle') return unchanged(state)
  if (event.type === 'timeout') return onTimeout(state, operation)
  if (event.type === 'stopRequested' || event.type === 'stopFailed') return onStop(state, operation, event)
  return operation.type === 'step' ? inStep(state, operation, event) : inSnapshot(state, operation, event)
}

type StepEvent = Exclude<OperationEvent, { type: 'timeout' | 'stopRequested' | 'stopFailed' }>

function inStep(state: OpenState, operation: StepOperation, event: StepEvent): Transition {
  const { step, phase, limit } = operation
  const { attempt, execution } = step
  if (event.type === 'interrupt') {
    if (event.step !== attempt.message.step || execution.interrupt.type === 'requested') return unchanged(state)
    const interrupt = { type: 'requested', confirmation: event.confirmation } as const
    return { state: { ...state, operation: withExecution(operation, { interrupt }) }, effects: [] }
  }
  if (!('attempt' in event) || event.attempt !== attempt) return unchanged(state)
  if (event.type === 'sendFailed') return abandonOperation(state, event.error)
  if (event.type === 'stepSent')
    return { state: { ...state, operation: { ...operation, phase: 'executing' } }, effects: [] }
  if (phase !== 'values') return unchanged(state)
  const isTimed = limit === 'running'
  if (event.type === 'pieceStarted') return { state, effects: isTimed ? [startTimer(attempt.timeoutMs)] : [] }
  if (event.type === 'pieceSent') return { state, effects: isTimed ? [{ type: 'stopTimer' }] : [] }
  const milliseconds = attempt.timeoutMs + (event.bytes / 2 ** 20) * parseMsPerMebibyte
  const sending = { ...withExecution(operation, { deadlineMs: event.nowMs + milliseconds }), phase: 'sending' as const }
  const timer = isTimed ? [startTimer(milliseconds)] : []
  return { state: { ...state, operation: sending }, effects: [...timer, { type: 'sendStep', attempt }] }
}

function inSnapshot(state: OpenState, { receiver, limit }: SnapshotOperation, event: StepEvent): Transition {
  if (!('receiver' in event) || event.receiver !== receiver) return unchanged(state)
  if (event.type === 'snapshotAborted') return abandonOperation(state, 'the snapshot request was cancelled')
  if (event.type === 'pieceReceived')
    return { state, effects: limit === 'running' ? [startTimer(receiver.timeoutMs)] : [] }
  return endOperation(state, { type: 'resolveSnapshot', receiver, snapshot: event.snapshot })
}

function execute(state: OpenState, { attempt, execution, result, nowMs }: EventOf<'execute'>): Transition {
  const { operation } = state
  const number = attempt.message.step
  const joined = operation.type === 'step' && isSameStep(attempt, operation.step) ? operation : undefined
  const known = joined?.step.execution ?? execution
  const deadlineMs = known.deadlineMs ?? nowMs + attempt.timeoutMs
  const step: PendingStep = {
    attempt,
    result: joined?.step.result ?? result,
    execution: { ...known, deadlineMs },
    mayBeFenced: attempt.attempt > 1 || state.isAttached || number <= state.lastRequestedStep,
  }
  const limit = joined?.limit ?? 'running'
  const effects: Effect[] = joined
    ? [{ type: 'abortSending', attempt: joined.step.attempt }]
    : [...abandonOperation(state, operation.type === 'step' ? anotherStep() : 'a step has begun').effects]
  if (limit === 'running') effects.push(startTimer(Math.max(deadlineMs - nowMs, 0)))
  const lastRequestedStep = Math.max(state.lastRequestedStep, number)
  const next = proceed({ ...state, lastRequestedStep, operation: { type: 'step', step, phase: 'handshake', limit } })
  return { state: next.state, effects: [...effects, ...next.effects] }
}

function anotherStep(): PtcError {
  return new PtcError('SANDBOX_FENCED', 'another step has begun')
}

function startSnapshot(state: OpenState, { receiver }: EventOf<'snapshot'>): Transition {
  if (state.operation.type === 'step')
    return { state, effects: [{ type: 'resolveSnapshot', receiver, snapshot: noSnapshot('a step is in progress') }] }
  const { effects } = abandonOperation(state, 'a newer snapshot request replaced this one')
  const operation = { type: 'snapshot', receiver, phase: 'handshake', limit: 'running' } as const
  const next = proceed({ ...state, operation })
  return { state: next.state, effects: [...effects, startTimer(receiver.timeoutMs), ...next.effects] }
}

function onTimeout(state: OpenState, operation: StepOperation | SnapshotOperation): Transition {
  if (operation.limit === 'stopping') return loseAtLimit(state, operation)
  const effects: Effect[] = [{ type: 'interruptAtLimit', operation: operationKey(operation) }]
  if (operation.type === 'snapshot')
    return { state: { ...state, operation: { ...operation, limit: 'stopping' } }, effects }
  const { stopAttempts } = operation.step.execution
  if (stopAttempts === maximumStopAttempts) return loseAtLimit(state, operation)
  const stopping = { ...withExecution(operation, { stopAttempts: stopAttempts + 1 }), limit: 'stopping' as const }
  return { state: { ...state, operation: stopping }, effects }
}

function onStop(
  state: OpenState,
  operation: StepOperation | SnapshotOperation,
  event: EventOf<'stopRequested' | 'stopFailed'>,
): Transition {
  if (event.operation !== operationKey(operation) || operation.limit === 'running') return unchanged(state)
  if (event.type === 'stopRequested' && event.isInterrupted) return { state, effects: [startTimer(stopGraceMs)] }
  // If the interrupt failed with an error, the sandbox may have ended long ago, and the step is not the cause.
  return event.type === 'stopFailed' && operation.type === 'step'
    ? lose(state, 'gone', `the code can't be told to stop: ${event.reason}`)
    : loseAtLimit(state, operation)
}

function loseAtLimit(state: OpenState, operation: StepOperation | SnapshotOperation): Transition {
  // A cell is not the cause of a snapshot timeout.
  if (operation.type === 'snapshot')
    return lose(state, 'gone', 'the sandbox did not finish its snapshot in time', { kill: true })
  const { message, limitSeconds } = operation.step.attempt
  const reason =
    message.type === 'restore'
      ? `the sandbox did not restore the snapshot within its limit of ${limitSeconds} seconds`
      : `the code did not stop at its limit of ${limitSeconds} seconds`
  return lose(state, 'killed_at_limit', reason, { kill: true })
}
