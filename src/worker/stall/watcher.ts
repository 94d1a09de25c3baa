import {
  blockedMs,
  type Cause,
  type FromThread,
  inWords,
  namedMs,
  type SharedState,
  type ToThread,
  type WatchedActivity,
  withNote,
} from './protocol.js'

/** The thread does not look for so long only when the whole process was stopped: that is no blocked event loop. */
const stoppedMs = 2_000

/** A tool that blocks may do so for its own timeout and this much more. */
const marginMs = 5_000

/** A blocked event loop is given up after this at the earliest. */
const leastPatienceMs = 65_000

/** Longer heartbeat details (JSON characters) are kept outside of the payload, which the thread can't do. */
const mostDetails = 1_000_000

/** What the thread does to the world. */
export interface Effects {
  readonly heartbeat: (activity: WatchedActivity, details: unknown) => Promise<'ok' | 'CANCELLED' | 'NOT_FOUND'>
  /** Fails the attempt for good. */
  readonly fail: (activity: WatchedActivity, message: string) => Promise<void>
  readonly tell: (message: FromThread) => void
  /** For how long the main thread has waited for a processor in all, in milliseconds; 0 where that is not known. */
  readonly waitedMs: () => number
  /** One line for the log. */
  readonly log: (line: string) => void
}

interface Entry {
  activity: WatchedActivity
  lastSentAt: number
  isSending: boolean
}

/** What the watch thread decides: whether the event loop is blocked, by what, and what is done about it. */
export class Watcher {
  readonly #state: SharedState
  readonly #effects: Effects
  readonly #entries = new Map<number, Entry>()
  #lookedAt: number
  /** The event loop can't be blocked since before: the process was stopped until then. */
  #notBefore = 0
  #beat = 0
  /** How long the main thread had waited for a processor when the event loop ran last. */
  #waitedMs = 0
  #stall: { cause: Cause | undefined; isGivenUp: boolean } | undefined

  constructor(state: SharedState, effects: Effects, now: number) {
    this.#state = state
    this.#effects = effects
    this.#lookedAt = now
  }

  take(message: ToThread): void {
    switch (message.type) {
      case 'begin':
        this.#entries.set(message.activity.id, {
          activity: message.activity,
          lastSentAt: Number.NEGATIVE_INFINITY,
          isSending: false,
        })
        return
      case 'details': {
        const entry = this.#entries.get(message.id)
        if (entry) entry.activity = { ...entry.activity, details: message.details }
        return
      }
      case 'end':
        this.#entries.delete(message.id)
    }
  }

  /** To be called every so often. */
  look(now: number): void {
    if (now - this.#lookedAt > stoppedMs) this.#notBefore = now
    this.#lookedAt = now
    const beat = this.#state.get('beat')
    if (beat !== this.#beat) this.#end(beat)
    if (beat === 0) return
    const milliseconds = now - this.#since()
    if (milliseconds < blockedMs) return
    const stall = (this.#stall ??= { cause: undefined, isGivenUp: false })
    if (stall.isGivenUp) return
    // On a busy machine the main thread waits for a processor; no tool is the cause of that.
    const ownMs = milliseconds - (this.#effects.waitedMs() - this.#waitedMs)
    const isBlocked = milliseconds >= namedMs && ownMs >= blockedMs
    if (isBlocked && !stall.cause) stall.cause = this.#nameCause(milliseconds)
    const note = stall.cause && inWords(stall.cause, milliseconds, false)
    if (note !== undefined && milliseconds > this.#patienceMs()) {
      stall.isGivenUp = true
      this.#giveUp(note)
      return
    }
    for (const entry of this.#entries.values()) this.#heartbeat(entry, note, now)
  }

  /** Since when the event loop has not run, as far as the process did. */
  #since(): number {
    return Math.max(this.#beat, this.#notBefore)
  }

  #end(beat: number): void {
    const { cause } = this.#stall ?? {}
    if (cause) this.#effects.tell({ type: 'ended', message: inWords(cause, beat - this.#since(), true) })
    this.#stall = undefined
    this.#beat = beat
    this.#waitedMs = this.#effects.waitedMs()
  }

  #nameCause(milliseconds: number): Cause {
    const candidates = this.#candidates()
    const cause = [...new Set(candidates.map(({ activityType }) => activityType))]
    const runs = [...new Set(candidates.map(({ workflowId }) => workflowId))].slice(0, 10)
    const where = runs.length === 0 ? '' : ` (run ${runs.join(', ')})`
    this.#effects.log(`${inWords(cause, milliseconds, false)}${where}. ${advice}`)
    this.#effects.tell({ type: 'blocked', cause })
    return cause
  }

  /** The call whose `run` has not returned; else every call that runs. */
  #candidates(): readonly WatchedActivity[] {
    const calls = [...this.#entries.values()].flatMap(({ activity }) =>
      activity.toolTimeoutMs === undefined ? [] : [activity],
    )
    const certain = calls.find(({ id }) => id === this.#state.get('handler'))
    return certain ? [certain] : calls
  }

  #patienceMs(): number {
    const timeouts = [...this.#entries.values()].map(({ activity }) => activity.toolTimeoutMs ?? 0)
    return Math.max(leastPatienceMs, Math.max(0, ...timeouts) + marginMs)
  }

  /** What blocks for so long may never end: other workers take over, but not the one call that blocks. */
  #giveUp(message: string): void {
    const [call, ...others] = this.#candidates()
    if (call && others.length === 0) {
      this.#effects.log(`${message}: this call has failed for good; what else runs here is left to other workers`)
      this.#effects.fail(call, `${message}. ${advice}`).catch(() => undefined)
    } else {
      this.#effects.log(`${message}: what runs here is left to other workers`)
    }
  }

  #heartbeat(entry: Entry, note: string | undefined, now: number): void {
    const { activity } = entry
    const { id, heartbeatTimeoutMs, details } = activity
    const isDue = now - entry.lastSentAt >= heartbeatTimeoutMs / 3
    if (heartbeatTimeoutMs === 0 || entry.isSending || !isDue || (details?.length ?? 0) > mostDetails) return
    entry.isSending = true
    entry.lastSentAt = now
    this.#effects
      .heartbeat(activity, withNote(details === undefined ? undefined : JSON.parse(details), note))
      .then(
        (answer) =>
          this.#effects.tell(answer === 'ok' ? { type: 'sent', id, at: now } : { type: 'stop', id, reason: answer }),
        // The next one may get through.
        () => undefined,
      )
      .finally(() => (entry.isSending = false))
  }
}

const advice =
  'Nothing else runs in this process until it returns: let a tool compute in a thread or process of its own'
