import type { Payload } from '@temporalio/common'
import { expect, it } from 'vitest'
import { type FromWatchdog, SharedState, type WatchedActivity } from './protocol.js'
import { StallDetector } from './stall-detector.js'

function activity(id: number, activityType: string, more: Partial<WatchedActivity> = {}): WatchedActivity {
  return {
    id,
    taskToken: new Uint8Array([id]),
    activityType,
    workflowId: `run-${id}`,
    heartbeatTimeoutMs: 3_000,
    toolTimeoutMs: activityType.includes('.') ? undefined : 60_000,
    details: undefined,
    ...more,
  }
}

const second = 1_000

/** A detector that checks every quarter of a second an event loop that last ran at second 1. */
class DetectorHarness {
  readonly state = new SharedState()
  readonly heartbeats: { readonly id: number; readonly at: number; readonly details: unknown; encoded?: Payload }[] = []
  readonly failed: { readonly id: number; readonly message: string }[] = []
  readonly messages: FromWatchdog[] = []
  readonly lines: string[] = []
  schedulingDelayMs = 0
  heartbeatReply: 'ok' | 'CANCELLED' | 'NOT_FOUND' = 'ok'
  #now = second
  readonly #detector: StallDetector

  /** The code of the first activity runs. */
  constructor(...activities: readonly WatchedActivity[]) {
    this.state.lastTickAt = second
    this.state.activeCallId = activities[0]?.id ?? 0
    this.#detector = new StallDetector(
      this.state,
      {
        heartbeat: ({ id, encoded }, details) => {
          this.heartbeats.push({ id, at: this.#now, details, ...(encoded && { encoded }) })
          return Promise.resolve(this.heartbeatReply)
        },
        fail: ({ id }, message) => Promise.resolve(void this.failed.push({ id, message })),
        schedulingDelayMs: () => this.schedulingDelayMs,
        send: (message) => this.messages.push(message),
        log: (line) => this.lines.push(line),
      },
      second,
    )
    for (const each of activities) this.#detector.handleMessage({ type: 'begin', activity: each, ended: [] })
  }

  handleMessage(message: Parameters<StallDetector['handleMessage']>[0]): void {
    this.#detector.handleMessage(message)
  }

  check(atSecond: number): void {
    this.#now = atSecond * second
    this.#detector.check(this.#now)
  }

  /** Checks until this second, in the thread's interval. */
  async checkUntil(atSecond: number): Promise<void> {
    while (this.#now < atSecond * second) {
      this.check((this.#now + 250) / second)
      await new Promise((settle) => setImmediate(settle))
    }
  }
}

it('the watchdog reports nothing while the event loop runs', async () => {
  const harness = new DetectorHarness(activity(1, 'charge'))
  for (let at = 1; at < 20; at += 0.5) {
    harness.state.lastTickAt = at * second
    await harness.checkUntil(at + 0.5)
  }
  expect([harness.lines, harness.messages, harness.heartbeats]).toEqual([[], [], []])
})

it('the watchdog names the tool whose code runs, and keeps all activities and heartbeat details', async () => {
  const harness = new DetectorHarness(activity(1, 'charge'), activity(2, 'model.turn', { heartbeatTimeoutMs: 6_000 }))
  harness.handleMessage({ type: 'details', id: 1, details: '{"details":{"page":7}}' })
  await harness.checkUntil(26)
  harness.state.lastTickAt = 26 * second
  await harness.checkUntil(26.5)
  expect(harness.lines).toEqual([
    expect.stringMatching(
      /^tool charge has blocked the event loop of the worker for 2\.0 s \(run run-1\)\. Nothing else/,
    ),
  ])
  expect(harness.messages).toContainEqual({ type: 'blocked', cause: { name: 'tool charge' } })
  expect(harness.messages.at(-1)).toEqual({
    type: 'ended',
    message: 'tool charge blocked the event loop of the worker for 25.0 s',
  })
  const [first, ...later] = harness.heartbeats
  const blocked = (seconds: number) => `tool charge has blocked the event loop of the worker for ${seconds}.0 s`
  expect(first).toEqual({ id: 1, at: 2 * second, details: { details: { page: 7 } } })
  expect(later).toContainEqual({ id: 1, at: 3 * second, details: { details: { page: 7 }, blocked: blocked(2) } })
  expect(later).toContainEqual({ id: 2, at: 4 * second, details: { blocked: blocked(3) } })
  const times = (id: number) => harness.heartbeats.filter((each) => each.id === id).map(({ at }) => at / second)
  expect(times(1).slice(0, 4)).toEqual([2, 3, 4, 5])
  expect(times(2).slice(0, 4)).toEqual([2, 4, 6, 8])
})

it('the watchdog does not name a tool that is only in progress, and does not fail its call', async () => {
  const harness = new DetectorHarness(activity(1, 'charge'))
  harness.state.activeCallId = 0
  await harness.checkUntil(100)
  expect(harness.lines).toEqual([
    'the event loop of the worker has been blocked for 2.0 s, not by the code of a tool',
    expect.stringMatching(/not by the code of a tool: the activities of this process time out/),
  ])
  expect(JSON.stringify(harness.messages)).not.toContain('charge')
  expect(harness.failed).toEqual([])
})

it('the watchdog names the tool whose code runs among several, and fails only its call', async () => {
  const harness = new DetectorHarness(activity(1, 'charge'), activity(2, 'look'), activity(3, 'look'))
  harness.state.activeCallId = 2
  await harness.checkUntil(100)
  expect(harness.lines[0]).toMatch(/^tool look has blocked .* \(run run-2\)/)
  expect(harness.failed).toMatchObject([{ id: 2 }])
})

it('the watchdog names an activity of the user, and never fails it', async () => {
  const own = { toolTimeoutMs: undefined, isUserActivity: true }
  const alone = new DetectorHarness(activity(1, 'importOrders', own))
  await alone.checkUntil(200)
  expect(alone.lines[0]).toContain('activity importOrders has blocked')
  expect(alone.failed).toEqual([])
})

it('the watchdog ignores a suspended process', async () => {
  const harness = new DetectorHarness(activity(1, 'charge'))
  harness.check(20)
  await harness.checkUntil(20.5)
  expect([harness.lines, harness.messages, harness.heartbeats]).toEqual([[], [], []])
})

it('the watchdog names no tool on a busy machine, and sends heartbeats', async () => {
  const harness = new DetectorHarness(activity(1, 'charge'))
  await harness.checkUntil(1.5)
  harness.schedulingDelayMs = 8 * second
  await harness.checkUntil(9.5)
  expect(harness.lines).toEqual([])
  expect(harness.heartbeats.length).toBeGreaterThan(5)
  await harness.checkUntil(12)
  expect(harness.lines).toHaveLength(1)
})

it('sends nothing for an activity that has ended, has no heartbeat timeout, or too long details', async () => {
  const harness = new DetectorHarness(activity(1, 'charge'), activity(2, 'look', { heartbeatTimeoutMs: 0 }))
  harness.handleMessage({
    type: 'begin',
    activity: activity(3, 'look', { details: JSON.stringify('x'.repeat(1_000_000)) }),
    ended: [1],
  })
  harness.handleMessage({ type: 'begin', activity: activity(4, 'charge'), ended: [] })
  harness.handleMessage({ type: 'end', ended: [4] })
  await harness.checkUntil(10)
  expect(harness.heartbeats).toEqual([])
})

it('details that a codec has encoded are those of the last report', async () => {
  const harness = new DetectorHarness(activity(1, 'charge', { details: '1' }))
  const encoded = (text: string) => ({ data: new TextEncoder().encode(text) })
  harness.handleMessage({ type: 'encoded', id: 1, details: '1', encoded: encoded('one') })
  await harness.checkUntil(2.5)
  harness.handleMessage({ type: 'details', id: 1, details: '2' })
  harness.handleMessage({ type: 'encoded', id: 1, details: '1', encoded: encoded('one') })
  harness.handleMessage({ type: 'encoded', id: 9, details: '1', encoded: encoded('one') })
  await harness.checkUntil(4)
  harness.handleMessage({ type: 'encoded', id: 1, details: '2', encoded: encoded('two') })
  await harness.checkUntil(6)
  const sent = harness.heartbeats.map((heartbeat) => heartbeat.encoded)
  expect(sent).toEqual([encoded('one'), undefined, undefined, encoded('two'), encoded('two')])
})

it('the watchdog passes on the replies of the server', async () => {
  const harness = new DetectorHarness(activity(1, 'charge'))
  await harness.checkUntil(2.5)
  harness.heartbeatReply = 'CANCELLED'
  await harness.checkUntil(4)
  harness.heartbeatReply = 'NOT_FOUND'
  await harness.checkUntil(5)
  expect(harness.messages).toEqual([
    { type: 'heartbeatRecorded', id: 1, at: 2_000 },
    { type: 'blocked', cause: { name: 'tool charge' } },
    { type: 'stop', id: 1, reason: 'CANCELLED' },
    { type: 'stop', id: 1, reason: 'CANCELLED' },
    { type: 'stop', id: 1, reason: 'NOT_FOUND' },
  ])
})

it.each([
  ['the shortest time', 10, 66],
  ['its own timeout', 300, 306],
])('the watchdog fails a call without retry when it blocks for longer than %s', async (_name, timeout, until) => {
  const harness = new DetectorHarness(
    activity(1, 'charge', { toolTimeoutMs: timeout * second }),
    activity(2, 'model.turn'),
  )
  await harness.checkUntil(until)
  expect(harness.failed).toEqual([])
  await harness.checkUntil(until + 10)
  expect(harness.failed).toEqual([{ id: 1, message: expect.stringContaining('tool charge has blocked') }])
  expect(harness.lines.at(-1)).toContain('the call fails without retry')
  expect(Math.max(...harness.heartbeats.map(({ at }) => at))).toBeLessThanOrEqual(until * second)
})
