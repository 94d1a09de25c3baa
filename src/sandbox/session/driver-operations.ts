/** The parts that several rows of the table in driver-state.ts share. */
import { messageOf } from '../../common/errors.js'
import type { LostCause } from '../../common/session/steps.js'
import type { Effect } from './driver-events.js'
import { type LostResult, type OpenState, pendingStepOf, type Transition, withExecution } from './driver-state.js'
import { noSnapshot } from './snapshot-receiver.js'

export function unchanged(state: OpenState): Transition {
  return { state, effects: [] }
}

export function startTimer(milliseconds: number): Effect {
  return { type: 'startTimer', milliseconds }
}

/** Makes the driver idle: sending and timers of the operation stop, and `settle` ends it for its callers. */
export function endOperation(state: OpenState, settle: Effect): Transition {
  const { operation } = state
  const effects: Effect[] = [{ type: 'stopTimer' }]
  if (operation.type === 'step') effects.push({ type: 'abortSending', attempt: operation.step.attempt })
  return { state: { ...state, operation: { type: 'idle' } }, effects: [...effects, settle] }
}

/** Ends the operation, if there is one, without a result: rejects a step, and settles a snapshot with the reason. */
export function abandonOperation(state: OpenState, error: unknown): Transition {
  const { operation } = state
  if (operation.type === 'idle') return unchanged(state)
  if (operation.type === 'step')
    return endOperation(state, { type: 'rejectStep', result: operation.step.result, error })
  const snapshot = noSnapshot(messageOf(error))
  return endOperation(state, { type: 'resolveSnapshot', receiver: operation.receiver, snapshot })
}

/** Called when the sandbox is lost or unusable: settles the operation and ends the state machine. */
export function lose(state: OpenState, cause: LostCause, reason: string, { kill } = { kill: false }): Transition {
  const { operation, madeProgress } = state
  const result: LostResult = { type: 'lost', cause, reason }
  const { effects } =
    operation.type === 'step'
      ? endOperation(state, { type: 'resolveStep', result: operation.step.result, value: result })
      : abandonOperation(state, reason)
  const lost = { type: 'lost', result, madeProgress, step: pendingStepOf(state) } as const
  return { state: lost, effects: kill ? [...effects, { type: 'kill' }] : effects }
}

/** Continues an operation in its handshake phase, as far as the handshake has come. */
export function proceed(state: OpenState): Transition {
  const { operation, handshake, lastTakenStep } = state
  if (operation.type === 'idle' || operation.phase !== 'handshake') return { state, effects: [] }
  const { fence } = operation.type === 'step' ? operation.step.attempt : operation.receiver
  if (handshake === 'new')
    return { state: { ...state, handshake: 'sendingHello' }, effects: [{ type: 'sendHello', fence }] }
  if (handshake === 'sendingHello') return { state, effects: [] }
  if (operation.type === 'snapshot') {
    const { receiver } = operation
    return {
      state: { ...state, operation: { ...operation, phase: 'requested' } },
      effects: [{ type: 'requestSnapshot', receiver }],
    }
  }
  const { attempt } = operation.step
  if (attempt.refs.length === 0 || attempt.message.step <= lastTakenStep)
    return {
      state: { ...state, operation: { ...operation, phase: 'sending' } },
      effects: [{ type: 'sendStep', attempt }],
    }
  // `ready` shows whether the runner has the step already: a runner that executes the step reads no values.
  if (handshake !== 'ready') return { state, effects: [] }
  const reading = { ...withExecution(operation, { deadlineMs: null }), phase: 'values' as const }
  const timer: Effect[] = operation.limit === 'running' ? [{ type: 'stopTimer' }] : []
  return { state: { ...state, operation: reading }, effects: [...timer, { type: 'sendValues', attempt }] }
}
