import type { Deferred } from '../../common/async/deferred.js'
import type { LostCause, StepResult } from '../../common/session/steps.js'
import type { Fence, RunnerMessage } from '../protocol/messages.js'
import type { RestoreResult } from '../protocol/step-result.js'
import type { Execution, StepAttempt } from './pending-step.js'
import type { Snapshot, SnapshotReceiver, SnapshotResponse } from './snapshot-receiver.js'

type StepDeferred = Deferred<StepResult | RestoreResult>

/** Identifies an operation: the deferred result of its step, or its snapshot receiver. */
export type OperationKey = StepDeferred | SnapshotReceiver

/** An event of a driver. Times (`nowMs`) are those of `performance.now()`. */
export type DriverEvent =
  /** Events from requests of the host. */
  | {
      readonly type: 'execute'
      readonly attempt: StepAttempt
      readonly execution: Execution
      readonly result: StepDeferred
      readonly nowMs: number
    }
  | { readonly type: 'interrupt'; readonly step: number; readonly confirmation: Deferred<void> }
  | { readonly type: 'snapshot'; readonly receiver: SnapshotReceiver }
  | { readonly type: 'snapshotAborted'; readonly receiver: SnapshotReceiver }
  /**
   * Events from writing. `sendFailed`: a value can't be read, or a frame is over the limit. `writeFailed`: the
   * connection failed.
   */
  | { readonly type: 'helloSent' }
  | { readonly type: 'helloFailed'; readonly error: unknown }
  | { readonly type: 'pieceStarted'; readonly attempt: StepAttempt }
  | { readonly type: 'pieceSent'; readonly attempt: StepAttempt }
  | {
      readonly type: 'valuesSent'
      readonly attempt: StepAttempt
      /** Bytes of the JSON text of all values. */
      readonly bytes: number
      readonly nowMs: number
    }
  | { readonly type: 'stepSent'; readonly attempt: StepAttempt }
  | { readonly type: 'sendFailed'; readonly attempt: StepAttempt; readonly error: unknown }
  | { readonly type: 'writeFailed'; readonly reason: string }
  /** Events from the runner. `violation`: it broke the protocol. */
  | { readonly type: 'message'; readonly message: RunnerMessage }
  | { readonly type: 'pieceReceived'; readonly receiver: SnapshotReceiver }
  | { readonly type: 'snapshotEnded'; readonly receiver: SnapshotReceiver; readonly snapshot: Snapshot }
  | { readonly type: 'violation'; readonly reason: string }
  /**
   * Events from timers and interrupts. `stopRequested`: the interrupt at the limit was sent, or this backend can't
   * interrupt.
   */
  | { readonly type: 'timeout' }
  | { readonly type: 'stopRequested'; readonly operation: OperationKey; readonly isInterrupted: boolean }
  | { readonly type: 'stopFailed'; readonly operation: OperationKey; readonly reason: string }
  /** Events from the connection. */
  | { readonly type: 'ended'; readonly cause: LostCause; readonly reason: string }
  | { readonly type: 'replaced' }

/** An action of the driver after a transition. Actions are executed in order. */
export type Effect =
  | { readonly type: 'sendHello'; readonly fence: Fence }
  | { readonly type: 'sendValues'; readonly attempt: StepAttempt }
  | { readonly type: 'sendStep'; readonly attempt: StepAttempt }
  | { readonly type: 'abortSending'; readonly attempt: StepAttempt }
  | { readonly type: 'resolveStep'; readonly result: StepDeferred; readonly value: StepResult | RestoreResult }
  | { readonly type: 'rejectStep'; readonly result: StepDeferred; readonly error: unknown }
  | { readonly type: 'emitOutput'; readonly attempt: StepAttempt; readonly text: string }
  | { readonly type: 'confirmInterrupt'; readonly confirmation: Deferred<void> }
  | { readonly type: 'requestSnapshot'; readonly receiver: SnapshotReceiver }
  | { readonly type: 'receiveSnapshot'; readonly receiver: SnapshotReceiver; readonly message: SnapshotResponse }
  | { readonly type: 'resolveSnapshot'; readonly receiver: SnapshotReceiver; readonly snapshot: Snapshot }
  | { readonly type: 'startTimer'; readonly milliseconds: number }
  | { readonly type: 'stopTimer' }
  /** Interrupts the code once and reports `stopRequested` or `stopFailed`. */
  | { readonly type: 'interruptAtLimit'; readonly operation: OperationKey }
  | { readonly type: 'kill' }
