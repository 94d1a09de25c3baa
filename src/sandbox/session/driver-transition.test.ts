import { describe, expect, it } from 'vitest'
import { events, states } from '../../../test/support/sandbox/driver-states.js'
import type { DriverState } from './driver-state.js'
import { transition } from './driver-transition.js'

type StateName = keyof typeof states
type EventName = keyof typeof events
type Row = readonly [states: readonly StateName[], event: EventName, next: string, effects: string]

const inStep: readonly StateName[] = [
  'greeting',
  'greeted',
  'values',
  'sending',
  'executing',
  'interrupting',
  'stoppedOften',
  'stopping',
  'unshared',
]
const executing: readonly StateName[] = ['executing', 'stoppedOften', 'unshared']
const inSnapshot: readonly StateName[] = ['snapshotGreeting', 'snapshot', 'snapshotStopping']
const running: readonly StateName[] = [
  'greeting',
  'greeted',
  'values',
  'sending',
  'executing',
  'interrupting',
  'unshared',
]

const abandon = 'stopTimer abortSending rejectStep'
const resolve = 'stopTimer abortSending resolveStep'
const settle = 'stopTimer resolveSnapshot'
const readValues = 'startTimer stopTimer sendValues'

const table: readonly Row[] = [
  [['new'], 'execute joining', 'sendingHello step/handshake', 'startTimer sendHello'],
  [['new'], 'execute other', 'sendingHello step/handshake', 'startTimer sendHello'],
  [['new'], 'execute without values', 'sendingHello step/handshake', 'startTimer sendHello'],
  [['idle'], 'execute joining', 'ready step/values no deadline', readValues],
  [['idle'], 'execute other', 'ready step/values no deadline', readValues],
  [['idle'], 'execute without values', 'ready step/sending', 'startTimer sendStep'],
  [['greeting'], 'execute joining', 'sendingHello step/handshake', 'abortSending startTimer'],
  [['greeted'], 'execute joining', 'helloSent step/handshake', 'abortSending startTimer'],
  [['values', 'sending'], 'execute joining', 'ready step/values no deadline', `abortSending ${readValues}`],
  [executing, 'execute joining', 'ready step/sending taken 5', 'abortSending startTimer sendStep'],
  [
    ['interrupting'],
    'execute joining',
    'ready step/sending interrupt requested taken 5',
    'abortSending startTimer sendStep',
  ],
  [['stopping'], 'execute joining', 'ready step/sending stopping taken 5', 'abortSending sendStep'],
  [['greeting'], 'execute other', 'sendingHello step/handshake', `${abandon} startTimer`],
  [['greeted'], 'execute other', 'helloSent step/handshake', `${abandon} startTimer`],
  [['values', 'sending'], 'execute other', 'ready step/values no deadline', `${abandon} ${readValues}`],
  [
    [...executing, 'interrupting', 'stopping'],
    'execute other',
    'ready step/sending taken 5',
    `${abandon} startTimer sendStep`,
  ],
  [['greeting'], 'execute without values', 'sendingHello step/handshake', `${abandon} startTimer`],
  [['greeted'], 'execute without values', 'helloSent step/sending', `${abandon} startTimer sendStep`],
  [['values', 'sending'], 'execute without values', 'ready step/sending', `${abandon} startTimer sendStep`],
  [
    [...executing, 'interrupting', 'stopping'],
    'execute without values',
    'ready step/sending taken 5',
    `${abandon} startTimer sendStep`,
  ],
  [['snapshotGreeting'], 'execute joining', 'sendingHello step/handshake', `${settle} startTimer`],
  [['snapshotGreeting'], 'execute other', 'sendingHello step/handshake', `${settle} startTimer`],
  [['snapshotGreeting'], 'execute without values', 'sendingHello step/handshake', `${settle} startTimer`],
  [['snapshot', 'snapshotStopping'], 'execute joining', 'ready step/values no deadline', `${settle} ${readValues}`],
  [['snapshot', 'snapshotStopping'], 'execute other', 'ready step/values no deadline', `${settle} ${readValues}`],
  [['snapshot', 'snapshotStopping'], 'execute without values', 'ready step/sending', `${settle} startTimer sendStep`],
  [['greeting'], 'interrupt', 'sendingHello step/handshake interrupt requested', ''],
  [['greeted'], 'interrupt', 'helloSent step/handshake interrupt requested', ''],
  [['values'], 'interrupt', 'ready step/values no deadline interrupt requested', ''],
  [['sending'], 'interrupt', 'ready step/sending interrupt requested', ''],
  [executing, 'interrupt', 'ready step/executing interrupt requested taken 5', ''],
  [['stopping'], 'interrupt', 'ready step/executing stopping interrupt requested taken 5', ''],
  [['interrupting'], 'interrupted', 'ready step/executing interrupt delivered taken 5', 'confirmInterrupt'],
  [['new'], 'snapshot', 'sendingHello snapshot/handshake', 'startTimer sendHello'],
  [['idle'], 'snapshot', 'ready snapshot/requested', 'startTimer requestSnapshot'],
  [[...inStep, 'lost'], 'snapshot', 'same', 'resolveSnapshot'],
  [['snapshotGreeting'], 'snapshot', 'sendingHello snapshot/handshake', `${settle} startTimer`],
  [['snapshot', 'snapshotStopping'], 'snapshot', 'ready snapshot/requested', `${settle} startTimer requestSnapshot`],
  [['snapshotGreeting'], 'snapshotAborted', 'sendingHello idle', settle],
  [['snapshot', 'snapshotStopping'], 'snapshotAborted', 'ready idle', settle],
  [['greeting'], 'helloSent', 'helloSent step/handshake', ''],
  [['snapshotGreeting'], 'helloSent', 'helloSent snapshot/requested', 'requestSnapshot'],
  [['greeting'], 'helloFailed', 'new idle', abandon],
  [['snapshotGreeting'], 'helloFailed', 'new idle', settle],
  [['greeting', 'greeted'], 'ready', 'ready step/values no deadline', 'stopTimer sendValues'],
  [['greeting', 'greeted'], 'ready with the step', 'ready step/sending taken 5', 'sendStep'],
  [['snapshotGreeting'], 'ready', 'ready snapshot/requested', 'requestSnapshot'],
  [['snapshotGreeting'], 'ready with the step', 'ready snapshot/requested taken 5', 'requestSnapshot'],
  [['idle'], 'ready with the step', 'ready idle taken 5', ''],
  [['values'], 'ready with the step', 'ready step/values no deadline taken 5', ''],
  [['sending'], 'ready with the step', 'ready step/sending taken 5', ''],
  [['snapshot'], 'ready with the step', 'ready snapshot/requested taken 5', ''],
  [['snapshotStopping'], 'ready with the step', 'ready snapshot/requested stopping taken 5', ''],
  [['values'], 'pieceStarted', 'same', 'startTimer'],
  [['values'], 'pieceSent', 'same', 'stopTimer'],
  [['values'], 'valuesSent', 'ready step/sending', 'startTimer sendStep'],
  [['greeting'], 'stepSent own', 'sendingHello step/executing taken 5', ''],
  [['greeted'], 'stepSent own', 'helloSent step/executing taken 5', ''],
  [['values'], 'stepSent own', 'ready step/executing no deadline taken 5', ''],
  [['sending'], 'stepSent own', 'ready step/executing taken 5', ''],
  [['idle'], 'stepSent own', 'ready idle taken 5', ''],
  [['new'], 'stepSent own', 'new idle taken 5', ''],
  [['snapshotGreeting'], 'stepSent own', 'sendingHello snapshot/handshake taken 5', ''],
  [['snapshot'], 'stepSent own', 'ready snapshot/requested taken 5', ''],
  [['snapshotStopping'], 'stepSent own', 'ready snapshot/requested stopping taken 5', ''],
  [inStep, 'sendFailed', 'idle', abandon],
  [inStep, 'output', 'same', 'emitOutput'],
  [inStep, 'response', 'idle', resolve],
  [inStep, 'incomplete', 'lost gone', resolve],
  [inStep, 'invalid', 'lost protocol', `${resolve} kill`],
  [inStep.filter((name) => name !== 'unshared'), 'fenced', 'idle', abandon],
  [['unshared'], 'fenced', 'idle', resolve],
  [inSnapshot, 'snapshot refused', 'idle', settle],
  [inSnapshot, 'snapshot piece', 'same', 'receiveSnapshot'],
  [inSnapshot, 'no snapshot', 'same', 'receiveSnapshot'],
  [['snapshotGreeting', 'snapshot'], 'pieceReceived', 'same', 'startTimer'],
  [inSnapshot, 'snapshotEnded', 'idle', settle],
  [running, 'timeout', 'stopping', 'interruptAtLimit'],
  [['snapshotGreeting', 'snapshot'], 'timeout', 'stopping', 'interruptAtLimit'],
  [['stoppedOften', 'stopping'], 'timeout', 'lost killed_at_limit', `${resolve} kill`],
  [['snapshotStopping'], 'timeout', 'lost gone', `${settle} kill`],
  [['stopping'], 'stopRequested step', 'same', 'startTimer'],
  [['stopping'], 'stop impossible step', 'lost killed_at_limit', `${resolve} kill`],
  [['stopping'], 'stopFailed step', 'lost gone', resolve],
  [['snapshotStopping'], 'stopRequested snapshot', 'same', 'startTimer'],
  [['snapshotStopping'], 'stop impossible snapshot', 'lost gone', `${settle} kill`],
  [['snapshotStopping'], 'stopFailed snapshot', 'lost gone', `${settle} kill`],
  [['new', 'idle'], 'writeFailed', 'lost gone', ''],
  [inStep, 'writeFailed', 'lost gone', resolve],
  [inSnapshot, 'writeFailed', 'lost gone', settle],
  [['new', 'idle'], 'violation', 'lost protocol', 'kill'],
  [inStep, 'violation', 'lost protocol', `${resolve} kill`],
  [inSnapshot, 'violation', 'lost protocol', `${settle} kill`],
  [['new', 'idle'], 'ended', 'lost out_of_memory', ''],
  [inStep, 'ended', 'lost out_of_memory', resolve],
  [inSnapshot, 'ended', 'lost out_of_memory', settle],
  [['new', 'idle'], 'replaced', 'lost gone', ''],
  [inStep, 'replaced', 'lost gone', abandon],
  [inSnapshot, 'replaced', 'lost gone', settle],
]

const expected = new Map(
  table.flatMap(([names, event, next, effects]) =>
    names.map((name) => [`${name}, ${event}`, { next, effects }] as const),
  ),
)

/**
 * Returns the properties in the rows: handshake, operation, phase, limit, deadline, interrupt, and the last taken step.
 */
function summarize(state: DriverState): string {
  if (state.type === 'lost') return `lost ${state.result.cause}`
  const { handshake, operation, lastTakenStep } = state
  const parts: string[] = [handshake, operation.type === 'idle' ? 'idle' : `${operation.type}/${operation.phase}`]
  if (operation.type !== 'idle' && operation.limit === 'stopping') parts.push('stopping')
  if (operation.type === 'step') {
    const { deadlineMs, interrupt } = operation.step.execution
    if (deadlineMs === null) parts.push('no deadline')
    if (interrupt.type !== 'none') parts.push(`interrupt ${interrupt.type}`)
  }
  if (lastTakenStep > 0) parts.push(`taken ${lastTakenStep}`)
  return parts.join(' ')
}

const names = Object.keys(states) as StateName[]
const pairs = names.flatMap((name) => (Object.keys(events) as EventName[]).map((event) => [name, event] as const))

describe('transition', () => {
  it('the transition table has one row for each pair', () => {
    expect(expected.size).toBe(table.reduce((count, [rowStates]) => count + rowStates.length, 0))
  })

  it.each(pairs)('the transition of %s on %s is as in the table', (name, eventName) => {
    const state: DriverState = states[name]
    const next = transition(state, events[eventName])
    const row = expected.get(`${name}, ${eventName}`)
    expect(next.effects.map(({ type }) => type).join(' ')).toBe(row?.effects ?? '')
    if (row === undefined || row.next === 'same') expect(next.state).toEqual(state)
    else if (row.next === 'idle' || row.next === 'stopping')
      expect(summarize(next.state).split(' ')).toContain(row.next)
    else expect(summarize(next.state)).toBe(row.next)
  })
})
