import { expect, it } from 'vitest'
import { type CallEvent, type CallState, callTransitions, transition } from './call-state.js'

const outcome = { status: 'ok', value: 1 } as const
const wait = { since: 1, expiresAt: 2 }

const states: { readonly [Type in CallState['type']]: CallState } = {
  ready: { type: 'ready' },
  asking: { type: 'asking' },
  approval: { type: 'approval', ...wait },
  decided: { type: 'decided', outcome },
  queued: { type: 'queued' },
  requested: { type: 'requested' },
  granted: { type: 'granted' },
  refused: { type: 'refused' },
  announcing: { type: 'announcing' },
  result: { type: 'result', ...wait },
  completed: { type: 'completed', outcome },
  question: { type: 'question', ...wait },
  answered: { type: 'answered', outcome },
  kept: { type: 'kept' },
  returning: { type: 'returning' },
}

const events: { readonly [Type in CallEvent['type']]: CallEvent } = {
  ask: { type: 'ask' },
  proceed: { type: 'proceed' },
  queue: { type: 'queue' },
  request: { type: 'request' },
  grant: { type: 'grant' },
  refuse: { type: 'refuse' },
  announce: { type: 'announce' },
  reuse: { type: 'reuse' },
  keep: { type: 'keep' },
  release: { type: 'release' },
  wait: { type: 'wait', ...wait },
  inquire: { type: 'inquire', ...wait },
  complete: { type: 'complete', outcome },
}

const pairs = Object.values(states).flatMap((state) => Object.values(events).map((event) => [state, event] as const))

it.each(pairs)('the state of a call follows the table: %j, %j', (state, event) => {
  const table: { readonly [Type in CallState['type']]: { readonly [Event in CallEvent['type']]?: CallState['type'] } } =
    callTransitions
  const next = table[state.type][event.type]
  expect(transition(state, event)).toEqual(next === undefined ? state : states[next])
})
