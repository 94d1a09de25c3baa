import { expect, it } from 'vitest'
import { type FromThread, SharedState, type WatchedActivity } from './protocol.js'
import { Watcher } from './watcher.js'

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

/** A thread that looks every quarter of a second at an event loop that ran last at second 1. */
class Scene {
  readonly state = new SharedState()
  readonly heartbeats: { readonly id: number; readonly at: number; readonly details: unknown }[] = []
  readonly failed: { readonly id: number; readonly message: string }[] = []
  readonly told: FromThread[] = []
  readonly lines: string[] = []
  waitedMs = 0
  answer: 'ok' | 'CANCELLED' | 'NOT_FOUND' = 'ok'
  #now = second
  readonly #watcher: Watcher

  constructor(...activities: readonly WatchedActivity[]) {
    this.state.set('beat', second)
    this.#watcher = new Watcher(
      this.state,
      {
        heartbeat: ({ id }, details) => {
          this.heartbeats.push({ id, at: this.#now, details })
          return Promise.resolve(this.answer)
        },
        fail: ({ id }, message) => Promise.resolve(void this.failed.push({ id, message })),
        waitedMs: () => this.waitedMs,
        tell: (message) => this.told.push(message),
        log: (line) => this.lines.push(line),
      },
      second,
    )
    for (const each of activities) this.#watcher.take({ type: 'begin', activity: each })
  }

  take(message: Parameters<Watcher['take']>[0]): void {
    this.#watcher.take(message)
  }

  /** Looks once. */
  look(atSecond: number): void {
    this.#now = atSecond * second
    this.#watcher.look(this.#now)
  }

  /** Looks until then, as the thread does. */
  async lookUntil(atSecond: number): Promise<void> {
    while (this.#now < atSecond * second) {
      this.look((this.#now + 250) / second)
      await new Promise((settle) => setImmediate(settle))
    }
  }
}

it('says nothing while the event loop runs', async () => {
  const scene = new Scene(activity(1, 'charge'))
  for (let at = 1; at < 20; at += 0.5) {
    scene.state.set('beat', at * second)
    await scene.lookUntil(at + 0.5)
  }
  expect([scene.lines, scene.told, scene.heartbeats]).toEqual([[], [], []])
})

it('names the one tool that runs, keeps every activity alive, and keeps what their heartbeats said', async () => {
  const scene = new Scene(activity(1, 'charge'), activity(2, 'model.turn', { heartbeatTimeoutMs: 6_000 }))
  scene.take({ type: 'details', id: 1, details: '{"details":{"page":7}}' })
  await scene.lookUntil(26)
  scene.state.set('beat', 26 * second)
  await scene.lookUntil(26.5)
  expect(scene.lines).toEqual([
    expect.stringMatching(
      /^tool charge has blocked the event loop of the worker for 2\.0 s \(run run-1\)\. Nothing else/,
    ),
  ])
  expect(scene.told).toContainEqual({ type: 'blocked', cause: ['charge'] })
  expect(scene.told.at(-1)).toEqual({
    type: 'ended',
    message: 'tool charge blocked the event loop of the worker for 25.0 s',
  })
  const [first, ...later] = scene.heartbeats
  const blocked = (seconds: number) => `tool charge has blocked the event loop of the worker for ${seconds}.0 s`
  expect(first).toEqual({ id: 1, at: 2 * second, details: { details: { page: 7 } } })
  expect(later).toContainEqual({ id: 1, at: 3 * second, details: { details: { page: 7 }, blocked: blocked(2) } })
  expect(later).toContainEqual({ id: 2, at: 4 * second, details: { blocked: blocked(3) } })
  const times = (id: number) => scene.heartbeats.filter((each) => each.id === id).map(({ at }) => at / second)
  expect(times(1).slice(0, 4)).toEqual([2, 3, 4, 5])
  expect(times(2).slice(0, 4)).toEqual([2, 4, 6, 8])
})

it('names the tool whose function has not returned, else every tool that runs', async () => {
  const scene = new Scene(activity(1, 'charge'), activity(2, 'look'), activity(3, 'look'))
  await scene.lookUntil(4)
  expect(scene.lines[0]).toContain('one of the tools charge, look has blocked')
  expect(scene.lines[0]).toContain('run-1, run-2, run-3')
  const certain = new Scene(activity(1, 'charge'), activity(2, 'look'))
  certain.state.set('handler', 2)
  await certain.lookUntil(4)
  expect(certain.lines[0]).toContain('tool look has blocked')
  expect(certain.lines[0]).toContain('(run run-2)')
})

it('accuses no tool when none runs', async () => {
  const scene = new Scene(activity(1, 'model.turn'))
  await scene.lookUntil(4)
  expect(scene.lines[0]).toContain('the event loop of the worker has been blocked for 2.0 s; no tool call was running')
})

it('takes a process that was stopped for no blocked event loop', async () => {
  const scene = new Scene(activity(1, 'charge'))
  scene.look(20)
  await scene.lookUntil(20.5)
  expect([scene.lines, scene.told, scene.heartbeats]).toEqual([[], [], []])
})

it('accuses no tool of a machine that is too busy, and sends heartbeats all the same', async () => {
  const scene = new Scene(activity(1, 'charge'))
  await scene.lookUntil(1.5)
  scene.waitedMs = 8 * second
  await scene.lookUntil(9.5)
  expect(scene.lines).toEqual([])
  expect(scene.heartbeats.length).toBeGreaterThan(5)
  await scene.lookUntil(12)
  expect(scene.lines).toHaveLength(1)
})

it('sends nothing for an activity that has ended, has no heartbeat timeout, or details that are too long', async () => {
  const scene = new Scene(activity(1, 'charge'), activity(2, 'look', { heartbeatTimeoutMs: 0 }))
  scene.take({ type: 'begin', activity: activity(3, 'look', { details: JSON.stringify('x'.repeat(1_000_000)) }) })
  scene.take({ type: 'end', id: 1 })
  await scene.lookUntil(10)
  expect(scene.heartbeats).toEqual([])
})

it('says what the server answers', async () => {
  const scene = new Scene(activity(1, 'charge'))
  await scene.lookUntil(2.5)
  scene.answer = 'CANCELLED'
  await scene.lookUntil(4)
  scene.answer = 'NOT_FOUND'
  await scene.lookUntil(5)
  expect(scene.told).toEqual([
    { type: 'sent', id: 1, at: 2_000 },
    { type: 'blocked', cause: ['charge'] },
    { type: 'stop', id: 1, reason: 'CANCELLED' },
    { type: 'stop', id: 1, reason: 'CANCELLED' },
    { type: 'stop', id: 1, reason: 'NOT_FOUND' },
  ])
})

it.each([
  ['the shortest time', 10, 66],
  ['its own timeout', 300, 306],
])('fails a call for good that blocks for longer than %s', async (_name, timeout, until) => {
  const scene = new Scene(activity(1, 'charge', { toolTimeoutMs: timeout * second }), activity(2, 'model.turn'))
  await scene.lookUntil(until)
  expect(scene.failed).toEqual([])
  await scene.lookUntil(until + 10)
  expect(scene.failed).toEqual([{ id: 1, message: expect.stringContaining('tool charge has blocked') }])
  expect(scene.lines.at(-1)).toContain('this call has failed for good')
  expect(Math.max(...scene.heartbeats.map(({ at }) => at))).toBeLessThanOrEqual(until * second)
})

it('fails none of several calls, of which one blocks for too long', async () => {
  const scene = new Scene(activity(1, 'charge'), activity(2, 'look'))
  await scene.lookUntil(100)
  expect(scene.failed).toEqual([])
  expect(scene.lines.at(-1)).toContain('what runs here is left to other workers')
  expect(Math.max(...scene.heartbeats.map(({ at }) => at))).toBeLessThanOrEqual(66 * second)
})
