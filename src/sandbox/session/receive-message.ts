import { PtcError } from '../../common/errors.js'
import { isSameFence, type RunnerMessage } from '../protocol/messages.js'
import { toStepResult } from '../protocol/step-result.js'
import { quoteUntrusted } from '../sandbox-end.js'
import { abandonOperation, endOperation, lose, proceed, unchanged } from './driver-operations.js'
import {
  type OpenState,
  type SnapshotOperation,
  type StepOperation,
  type Transition,
  withExecution,
} from './driver-state.js'
import { isResponseTo, type PendingStep } from './pending-step.js'

/** Handles a message from the runner. Its frame is valid, but its content is not trusted. */
export function receive(state: OpenState, message: RunnerMessage): Transition {
  if (message.type === 'ready') {
    if (state.handshake === 'new') return unchanged(state)
    const lastTakenStep = Math.max(state.lastTakenStep, message.step)
    return proceed({ ...state, handshake: 'ready', lastTakenStep })
  }
  const next: OpenState = state.madeProgress ? state : { ...state, madeProgress: true }
  const { operation } = next
  if (operation.type === 'idle') return unchanged(next)
  return operation.type === 'step'
    ? receiveInStep(next, operation, message)
    : receiveInSnapshot(next, operation, message)
}

type OperationMessage = Exclude<RunnerMessage, { type: 'ready' }>

function receiveInStep(state: OpenState, operation: StepOperation, message: OperationMessage): Transition {
  const { step } = operation
  const { attempt, execution } = step
  switch (message.type) {
    case 'output': {
      if (message.step !== attempt.message.step) return unchanged(state)
      return { state, effects: [{ type: 'emitOutput', attempt, text: message.text }] }
    }
    case 'interrupted': {
      if (execution.interrupt.type !== 'requested') return unchanged(state)
      const { confirmation } = execution.interrupt
      const delivered = withExecution(operation, { interrupt: { type: 'delivered' } })
      return { state: { ...state, operation: delivered }, effects: [{ type: 'confirmInterrupt', confirmation }] }
    }
    case 'refused':
      return isSameFence(attempt.fence, message.fence) ? onRefused(state, step, message) : unchanged(state)
    case 'suspended':
    case 'completed':
    case 'failed':
    case 'restored': {
      // A response to another step is for another driver, or forged.
      if (!isResponseTo(step, message)) return unchanged(state)
      return endOperation(state, {
        type: 'resolveStep',
        result: step.result,
        value: toStepResult(message, attempt.message),
      })
    }
    case 'snapshot':
    case 'no_snapshot':
      return unchanged(state)
  }
}

function onRefused(
  state: OpenState,
  { attempt, result, mayBeFenced }: PendingStep,
  { kind, reason }: Extract<RunnerMessage, { type: 'refused' }>,
): Transition {
  const quotedReason = quoteUntrusted(reason)
  switch (kind) {
    // Another worker was also sending, and is fenced now. This is so rare that a rebuild is acceptable.
    case 'incomplete':
      return lose(state, 'gone', `a value did not reach the sandbox: ${quotedReason}`)
    case 'invalid': {
      const refusal = `the sandbox refused step ${attempt.message.step}: ${quotedReason}`
      return lose(state, 'protocol', refusal, { kill: true })
    }
    case 'fenced': {
      // No code has run in a fresh sandbox before its first `ready`. A sandbox that refuses the hello was used before:
      // after a reset, a run opens the sandbox that the earlier run opened with the same epoch.
      const wasUsedBefore = state.handshake !== 'ready'
      if (mayBeFenced || wasUsedBefore)
        return abandonOperation(state, new PtcError('SANDBOX_FENCED', `fenced off: ${quotedReason}`))
      const lie = 'the sandbox reported a newer worker where none can exist'
      return endOperation(state, {
        type: 'resolveStep',
        result,
        value: { type: 'lost', cause: 'protocol', reason: lie },
      })
    }
  }
}

function receiveInSnapshot(state: OpenState, { receiver }: SnapshotOperation, message: OperationMessage): Transition {
  switch (message.type) {
    case 'snapshot':
    case 'no_snapshot':
      if (!isSameFence(receiver.fence, message.fence)) return unchanged(state)
      return { state, effects: [{ type: 'receiveSnapshot', receiver, message }] }
    case 'refused':
      return isSameFence(receiver.fence, message.fence) ? abandonOperation(state, message.reason) : unchanged(state)
    case 'output':
    case 'interrupted':
    case 'suspended':
    case 'completed':
    case 'failed':
    case 'restored':
      return unchanged(state)
  }
}
