/**
 * The state of a session driver: one union, changed only by `transition` (driver-transition.ts).
 *
 * Owns: the state of a driver's connection and operation. Boundary: pure; no I/O, no timer, no clock. The driver
 * (session-driver.ts) creates the events and runs the effects.
 *
 * Invariants: 1. At most one operation is in progress. 2. `lost` is final. 3. Every operation that leaves the state has
 * its result settled by an effect of that transition. 4. The timer runs only during an operation, and an operation has
 * at most one timer. 5. Events of an earlier operation or attempt change nothing.
 *
 * A step has a phase (handshake → values → sending → executing) and a limit (running → stopping); a snapshot has a
 * phase (handshake → requested) and a limit. Every (state, event) pair that is not in the table changes nothing.
 *
 * | state             | event (guard)                           | next state                    | effects                              |
 * |-------------------|-----------------------------------------|-------------------------------|--------------------------------------|
 * | idle              | execute                                 | step/handshake                | start timer; continue (*)            |
 * | step              | execute (same number and digest)        | step/handshake, newer attempt | abort older sending; continue (*)    |
 * | step              | execute (other step)                    | step/handshake, new step      | reject the older with SANDBOX_FENCED |
 * | snapshot          | execute                                 | step/handshake                | settle the snapshot; as for idle     |
 * | open              | helloSent                               | handshake helloSent           | continue (*)                         |
 * | open, hello begun | message ready                           | handshake ready               | continue (*)                         |
 * | step, snapshot    | helloFailed                             | idle, handshake new           | reject; settle the snapshot          |
 * | step/values       | pieceStarted, pieceSent                 | same                          | start timer, stop timer              |
 * | step/values       | valuesSent                              | step/sending, new deadline    | start timer, send step               |
 * | open              | stepSent                                | step/executing                |                                      |
 * | step              | sendFailed                              | idle                          | reject for every caller              |
 * | step              | message with the response of this step  | idle                          | resolve                              |
 * | step              | message output (this step)              | same                          | emit output                          |
 * | step              | interrupt (this step)                   | interrupt requested           |                                      |
 * | step              | message interrupted (if requested)      | interrupt delivered           | confirm                              |
 * | step              | message refused: incomplete             | lost (gone)                   | resolve                              |
 * | step              | message refused: invalid                | lost (protocol)               | resolve, kill                        |
 * | step              | message refused: fenced                 | idle                          | reject, or resolve as lost (**)      |
 * | step              | timeout (less than 3 stop attempts)     | step, stopping                | interrupt                            |
 * | step              | timeout (after 3 stop attempts)         | lost (killed_at_limit)        | resolve, kill                        |
 * | snapshot          | timeout                                 | snapshot, stopping            | interrupt                            |
 * | stopping          | stopRequested (interrupted)             | same                          | start grace timer                    |
 * | step, stopping    | stopRequested (can't), timeout          | lost (killed_at_limit)        | resolve, kill                        |
 * | step, stopping    | stopFailed                              | lost (gone)                   | resolve                              |
 * | snapshot, stopping| stopRequested (can't), timeout, failed  | lost (gone)                   | settle the snapshot, kill            |
 * | idle              | snapshot                                | snapshot/handshake            | start timer; continue (*)            |
 * | snapshot          | snapshot                                | snapshot/handshake, newer     | settle the older; continue (*)       |
 * | step              | snapshot                                | same                          | settle it: a step is in progress     |
 * | snapshot          | message snapshot, no_snapshot           | same                          | receive it                           |
 * | snapshot          | pieceReceived                           | same                          | restart timer                        |
 * | snapshot          | snapshotEnded, snapshotAborted, refused | idle                          | settle the snapshot                  |
 * | open              | writeFailed                             | lost (gone)                   | resolve, settle the snapshot         |
 * | open              | violation                               | lost (protocol)               | resolve, settle the snapshot, kill   |
 * | open              | ended                                   | lost (cause of the end)       | resolve, settle the snapshot         |
 * | open              | replaced                                | lost (gone)                   | reject (fenced), settle the snapshot |
 * | lost              | snapshot                                | same                          | settle it with the reason            |
 *
 * Guards that all rows share: a message `refused` or `snapshot` counts with the fence of the operation only; an event
 * of writing counts for the latest attempt only. Every message but `ready` sets `madeProgress`.
 * (*) handshake new: send hello. Hello sent: send the step, or request the snapshot; when the runner lacks values of a
 * step, the driver waits for `ready` and then sends them first, without a timer while they are read.
 * (**) resolved as lost (protocol) when no other driver can exist: then the response is false, but the sandbox is not
 * killed.
 */
import type { StepResult } from '../../common/session/steps.js'
import type { DriverEvent, Effect, OperationKey } from './driver-events.js'
import type { Execution, PendingStep } from './pending-step.js'
import type { SnapshotReceiver } from './snapshot-receiver.js'

export type DriverState = OpenState | LostState

export interface OpenState {
  readonly type: 'open'
  readonly handshake: Handshake
  readonly operation: Operation
  /** True when this connection found the sandbox, and did not create it. */
  readonly isAttached: boolean
  /** Number of the largest step that the runner has received for certain. */
  readonly lastTakenStep: number
  /** Number of the largest step that was requested from this driver. */
  readonly lastRequestedStep: number
  /** True when the runner has sent a message other than `ready`. */
  readonly madeProgress: boolean
}

interface LostState {
  readonly type: 'lost'
  readonly result: LostResult
  readonly madeProgress: boolean
  /** The step that was pending. */
  readonly step: PendingStep | null
}

export type LostResult = Extract<StepResult, { type: 'lost' }>

type Handshake = 'new' | 'sendingHello' | 'helloSent' | 'ready'

export type Operation = { readonly type: 'idle' } | StepOperation | SnapshotOperation

export interface StepOperation {
  readonly type: 'step'
  readonly step: PendingStep
  readonly phase: 'handshake' | 'values' | 'sending' | 'executing'
  readonly limit: LimitState
}

export interface SnapshotOperation {
  readonly type: 'snapshot'
  readonly receiver: SnapshotReceiver
  readonly phase: 'handshake' | 'requested'
  readonly limit: LimitState
}

/** `stopping`: the time limit was reached, and the code was interrupted. */
type LimitState = 'running' | 'stopping'

export interface Transition {
  readonly state: DriverState
  readonly effects: readonly Effect[]
}

export type EventOf<Type extends DriverEvent['type']> = Extract<DriverEvent, { readonly type: Type }>

export function initialState(isAttached: boolean): OpenState {
  return {
    type: 'open',
    handshake: 'new',
    operation: { type: 'idle' },
    isAttached,
    lastTakenStep: 0,
    lastRequestedStep: 0,
    madeProgress: false,
  }
}

/** Returns whether a message from the runner can change this state. While it can't, frames are skipped unread. */
export function isExpectingMessage(state: DriverState): boolean {
  if (state.type === 'lost') return false
  return state.operation.type !== 'idle' || state.handshake === 'sendingHello' || state.handshake === 'helloSent'
}

/** Returns the step without a result; for a lost driver, the step that was pending. */
export function pendingStepOf(state: DriverState): PendingStep | null {
  if (state.type === 'lost') return state.step
  return state.operation.type === 'step' ? state.operation.step : null
}

/** Returns the step without a result if the runner has it, or is about to get it. */
export function sentStepOf(state: DriverState): PendingStep | null {
  if (state.type === 'lost' || state.operation.type !== 'step') return null
  const { phase, step } = state.operation
  return phase === 'sending' || phase === 'executing' ? step : null
}

export function operationKey(operation: StepOperation | SnapshotOperation): OperationKey {
  return operation.type === 'step' ? operation.step.result : operation.receiver
}

export function withExecution(operation: StepOperation, changes: Partial<Execution>): StepOperation {
  const { step } = operation
  return { ...operation, step: { ...step, execution: { ...step.execution, ...changes } } }
}
