import { deferred } from '../../../src/common/async/deferred.js'
import { protocolVersion, type RunnerMessage } from '../../../src/sandbox/protocol/messages.js'
import type { DriverEvent } from '../../../src/sandbox/session/driver-events.js'
import {
  type DriverState,
  initialState,
  type OpenState,
  type Operation,
} from '../../../src/sandbox/session/driver-state.js'
import { maximumStopAttempts } from '../../../src/sandbox/session/driver-transition.js'
import {
  type Execution,
  newExecution,
  type PendingStep,
  type StepAttempt,
} from '../../../src/sandbox/session/pending-step.js'
import { SnapshotReceiver } from '../../../src/sandbox/session/snapshot-receiver.js'

const epoch = 3

function attemptAt(step: number, attempt: number, { digest = 'd', refs = ['a'] } = {}): StepAttempt {
  const fence = [epoch, step, attempt] as const
  return {
    attempt,
    onOutput: () => undefined,
    readValue: async function* () {},
    fence,
    message: { type: 'cell', fence, step, now: 0, cell: 1, source: 'x', digest },
    refs: refs.map((sha256) => ({ sha256, bytes: 1, preview: '' })),
    limitSeconds: 2,
    timeoutMs: 5_000,
    sendAbort: new AbortController(),
  }
}

const attempt = attemptAt(5, 1)
const result = deferred<never>()
const confirmation = deferred<void>()
const receiver = new SnapshotReceiver([epoch, 5, 1], { bytes: 100, seconds: 5 })
const execution: Execution = { ...newExecution, deadlineMs: 6_000 }
const pending: PendingStep = { attempt, result, execution, mayBeFenced: true }

const open: OpenState = { ...initialState(false), handshake: 'ready', lastRequestedStep: 5, madeProgress: true }
/** The state after the runner has received the step. */
const taken: OpenState = { ...open, lastTakenStep: 5 }
const stepIn = (
  phase: 'handshake' | 'values' | 'sending' | 'executing',
  limit: 'running' | 'stopping' = 'running',
  changes: Partial<Execution> = {},
): Operation => ({ type: 'step', step: { ...pending, execution: { ...execution, ...changes } }, phase, limit })
const snapshotIn = (phase: 'handshake' | 'requested', limit: 'running' | 'stopping' = 'running'): Operation => ({
  type: 'snapshot',
  receiver,
  phase,
  limit,
})

/** One state of each kind of a session driver, all of step 5 or of a snapshot after it. */
export const states = {
  new: { ...open, handshake: 'new' },
  idle: open,
  greeting: { ...open, handshake: 'sendingHello', operation: stepIn('handshake') },
  greeted: { ...open, handshake: 'helloSent', operation: stepIn('handshake') },
  values: { ...open, operation: stepIn('values', 'running', { deadlineMs: null }) },
  sending: { ...open, operation: stepIn('sending') },
  executing: { ...taken, operation: stepIn('executing') },
  interrupting: {
    ...taken,
    operation: stepIn('executing', 'running', { interrupt: { type: 'requested', confirmation } }),
  },
  stoppedOften: { ...taken, operation: stepIn('executing', 'running', { stopAttempts: maximumStopAttempts }) },
  stopping: { ...taken, operation: stepIn('executing', 'stopping', { stopAttempts: 1 }) },
  unshared: {
    ...taken,
    operation: { type: 'step', step: { ...pending, mayBeFenced: false }, phase: 'executing', limit: 'running' },
  },
  snapshotGreeting: { ...open, handshake: 'sendingHello', operation: snapshotIn('handshake') },
  snapshot: { ...open, operation: snapshotIn('requested') },
  snapshotStopping: { ...open, operation: snapshotIn('requested', 'stopping') },
  lost: {
    type: 'lost',
    result: { type: 'lost', cause: 'gone', reason: 'ended' },
    madeProgress: true,
    step: null,
  },
} satisfies Record<string, DriverState>

const message = (content: RunnerMessage): DriverEvent => ({ type: 'message', message: content })
const refused = (kind: 'fenced' | 'incomplete' | 'invalid', fence: [number, number, number]): DriverEvent =>
  message({ type: 'refused', step: 4, fence, kind, reason: 'r' })
const fence: [number, number, number] = [epoch, 5, 1]
const snapshotFence: [number, number, number] = [...receiver.fence]
const execute = (next: StepAttempt): DriverEvent => ({
  type: 'execute',
  attempt: next,
  execution: newExecution,
  result: deferred(),
  nowMs: 1_000,
})

/** Events of each kind, for the states' operation and for others. */
export const events = {
  'execute joining': execute(attemptAt(5, 2)),
  'execute other': execute(attemptAt(5, 2, { digest: 'other' })),
  'execute without values': execute(attemptAt(6, 1, { refs: [] })),
  interrupt: { type: 'interrupt', step: 5, confirmation: deferred() },
  'interrupt other': { type: 'interrupt', step: 6, confirmation: deferred() },
  snapshot: { type: 'snapshot', receiver: new SnapshotReceiver([epoch, 5, 2], { bytes: 100, seconds: 5 }) },
  snapshotAborted: { type: 'snapshotAborted', receiver },
  helloSent: { type: 'helloSent' },
  helloFailed: { type: 'helloFailed', error: new Error('too large') },
  pieceStarted: { type: 'pieceStarted', attempt },
  pieceSent: { type: 'pieceSent', attempt },
  valuesSent: { type: 'valuesSent', attempt, bytes: 2 ** 20, nowMs: 1_000 },
  stepSent: { type: 'stepSent', attempt: { ...attempt, message: { ...attempt.message, step: 0 } } },
  'stepSent own': { type: 'stepSent', attempt },
  sendFailed: { type: 'sendFailed', attempt, error: new Error('corrupt') },
  'sendFailed older': { type: 'sendFailed', attempt: attemptAt(5, 1), error: new Error('corrupt') },
  writeFailed: { type: 'writeFailed', reason: 'broken pipe' },
  ready: message({ type: 'ready', protocol: protocolVersion, session: 's', step: 0, language: 'Python' }),
  'ready with the step': message({
    type: 'ready',
    protocol: protocolVersion,
    session: 's',
    step: 5,
    language: 'Python',
  }),
  output: message({ type: 'output', step: 5, text: 'x' }),
  'output other': message({ type: 'output', step: 4, text: 'x' }),
  interrupted: message({ type: 'interrupted' }),
  response: message({ type: 'completed', step: 5, digest: 'd', output: '' }),
  'response other': message({ type: 'completed', step: 5, digest: 'other', output: '' }),
  'response restored': message({ type: 'restored', step: 5, digest: 'd', problem: null }),
  incomplete: refused('incomplete', fence),
  invalid: refused('invalid', fence),
  fenced: refused('fenced', fence),
  'fenced other': refused('fenced', [epoch, 5, 9]),
  'snapshot refused': refused('fenced', snapshotFence),
  'snapshot piece': message({ type: 'snapshot', step: 5, fence: snapshotFence, piece: 0, text: 'YQ==', last: false }),
  'snapshot piece other': message({ type: 'snapshot', step: 5, fence, piece: 0, text: 'YQ==', last: false }),
  'no snapshot': message({ type: 'no_snapshot', step: 5, fence: snapshotFence, reason: 'x: a task' }),
  pieceReceived: { type: 'pieceReceived', receiver },
  snapshotEnded: { type: 'snapshotEnded', receiver, snapshot: { type: 'snapshot', pieces: [] } },
  violation: { type: 'violation', reason: 'no JSON' },
  timeout: { type: 'timeout' },
  'stopRequested step': { type: 'stopRequested', operation: result, isInterrupted: true },
  'stop impossible step': { type: 'stopRequested', operation: result, isInterrupted: false },
  'stopFailed step': { type: 'stopFailed', operation: result, reason: 'refused' },
  'stopRequested snapshot': { type: 'stopRequested', operation: receiver, isInterrupted: true },
  'stop impossible snapshot': { type: 'stopRequested', operation: receiver, isInterrupted: false },
  'stopFailed snapshot': { type: 'stopFailed', operation: receiver, reason: 'refused' },
  ended: { type: 'ended', cause: 'out_of_memory', reason: 'killed' },
  replaced: { type: 'replaced' },
} satisfies Record<string, DriverEvent>
