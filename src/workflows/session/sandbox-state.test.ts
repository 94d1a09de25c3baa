import { describe, expect, it } from 'vitest'
import { hostQueueOf, type SandboxEvent, type SandboxState, transition } from './sandbox-state.js'

const hostQueue = 'q.host.box'
const states = {
  none: { type: 'none' },
  open: { type: 'open', hostQueue, supportsCheckpoint: false, hasStubs: false },
  openWithCheckpoints: { type: 'open', hostQueue, supportsCheckpoint: true, hasStubs: true },
  parking: { type: 'parking', hostQueue },
  checkpointed: { type: 'checkpointed', hostQueue },
  parked: { type: 'parked' },
} as const satisfies Record<string, SandboxState>

const events = {
  opened: { type: 'opened', hostQueue, supportsCheckpoint: false },
  stepped: { type: 'stepped' },
  parkStarted: { type: 'parkStarted' },
  checkpointed: { type: 'checkpointed' },
  released: { type: 'released' },
  resumed: { type: 'resumed' },
  discarded: { type: 'discarded' },
} as const satisfies Record<SandboxEvent['type'], SandboxEvent>

type StateName = keyof typeof states
type EventName = keyof typeof events

const table: Readonly<Record<StateName, Partial<Record<EventName, SandboxState>>>> = {
  none: { opened: states.open, discarded: states.none },
  open: { stepped: { ...states.open, hasStubs: true }, parkStarted: states.parked, discarded: states.none },
  openWithCheckpoints: { stepped: states.openWithCheckpoints, parkStarted: states.parking, discarded: states.none },
  parking: { checkpointed: states.checkpointed, released: states.parked, discarded: states.none },
  checkpointed: { resumed: states.openWithCheckpoints, discarded: states.none },
  parked: { opened: states.open, discarded: states.none },
}

const rows = (Object.keys(states) as StateName[]).flatMap((state) =>
  (Object.keys(events) as EventName[]).map((event) => [state, event, table[state][event]] as const),
)

describe('the sandbox of a session', () => {
  it.each(rows)('the sandbox of a session in state %s handles event %s', (state, event, next) => {
    const apply = (): SandboxState => transition(states[state], events[event])
    if (next === undefined) expect(apply).toThrow(`has no event ${event}`)
    else expect(apply()).toEqual(next)
  })

  it('the sandbox of a session has a host while it has a container or a checkpoint', () => {
    const names = (Object.keys(states) as StateName[]).filter((name) => hostQueueOf(states[name]) === hostQueue)
    expect(names).toEqual(['open', 'openWithCheckpoints', 'parking', 'checkpointed'])
  })
})
