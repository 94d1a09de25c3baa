import {
  type BlockCause,
  blockedThresholdMs,
  type FromWatchdog,
  describeStall,
  reportThresholdMs,
  type SharedState,
  type ToWatchdog,
  type WatchedActivity,
  withNote,
} from './protocol.js'

/** A check this late means that the whole process was suspended. Its event loop was not blocked. */
const processPauseMs = 2_000

/** Added to the tool's timeout to get the limit of a block. */
const marginMs = 5_000

/** The smallest limit of a block. */
const minBlockLimitMs = 65_000

/** Longer heartbeat details (JSON characters) go to external storage, which the thread does not have. */
const maxDetailsCharacters = 1_000_000

/** The side effects of the thread. */
export interface WatchdogActions {
  readonly heartbeat: (activity: WatchedActivity, details: unknown) => Promise<'ok' | 'CANCELLED' | 'NOT_FOUND'>
  /** Fails the activity without retry. */
  readonly fail: (activity: WatchedActivity, message: string) => Promise<void>
  readonly send: (message: FromWatchdog) => void
  /** Total milliseconds that the main thread has waited for a processor; 0 where unknown. */
  readonly schedulingDelayMs: () => number
  /** Writes a line to the log. */
  readonly log: (line: string) => void
}

type Stall =
  | { readonly state: 'none' | 'observed' }
  | { readonly state: 'reported' | 'abandoned'; readonly cause: BlockCause }

interface WatchedEntry {
  activity: WatchedActivity
  lastSentAt: number
  isSending: boolean
}

/**
 * Decides in the watchdog thread whether the event loop is blocked, which code blocks it, and how to react.
 *
 * | state of the stall | heartbeats | next state |
 * |---|---|---|
 * | none | by the main thread | observed, after 1 s without a tick |
 * | observed | by the thread | reported, after 2 s, 1 s of them with a processor |
 * | reported | by the thread, with a note | abandoned, after the limit of a block |
 * | abandoned | none | |
 *
 * Every state returns to none when the event loop runs again.
 */
export class StallDetector {
  readonly #state: SharedState
  readonly #actions: WatchdogActions
  readonly #entries = new Map<number, WatchedEntry>()
  #checkedAt: number
  /** End of the last suspension of the process. Time before it does not count as blocked. */
  #notBefore = 0
  #lastTickAt = 0
  /** `schedulingDelayMs()` when the event loop last ran. */
  #schedulingDelayMs = 0
  #stall: Stall = { state: 'none' }

  constructor(state: SharedState, actions: WatchdogActions, now: number) {
    this.#state = state
    this.#actions = actions
    this.#checkedAt = now
  }

  handleMessage(message: ToWatchdog): void {
    switch (message.type) {
      case 'begin':
        this.#remove(message.ended)
        this.#entries.set(message.activity.id, {
          activity: message.activity,
          lastSentAt: Number.NEGATIVE_INFINITY,
          isSending: false,
        })
        return
      case 'details': {
        const entry = this.#entries.get(message.id)
        if (entry) entry.activity = { ...entry.activity, details: message.details, encoded: undefined }
        return
      }
      case 'encoded': {
        const entry = this.#entries.get(message.id)
        // The activity may have reported later details meanwhile.
        if (entry?.activity.details !== message.details) return
        entry.activity = { ...entry.activity, encoded: message.encoded }
        return
      }
      case 'end':
        this.#remove(message.ended)
    }
  }

  #remove(ended: readonly number[]): void {
    for (const id of ended) this.#entries.delete(id)
  }

  /** Checks the event loop. The thread calls it every {@link tickMs}. */
  check(now: number): void {
    if (now - this.#checkedAt > processPauseMs) this.#notBefore = now
    this.#checkedAt = now
    const tickAt = this.#state.lastTickAt
    if (tickAt !== this.#lastTickAt) this.#endStall(tickAt)
    if (tickAt === 0) return
    const milliseconds = now - this.#blockedSince()
    if (milliseconds < blockedThresholdMs) return
    if (this.#stall.state === 'none') this.#stall = { state: 'observed' }
    if (this.#stall.state === 'abandoned') return
    // On a busy machine the main thread waits for a processor. No tool causes that wait.
    const ownMs = milliseconds - (this.#actions.schedulingDelayMs() - this.#schedulingDelayMs)
    const isBlocked = milliseconds >= reportThresholdMs && ownMs >= blockedThresholdMs
    if (isBlocked && this.#stall.state === 'observed') {
      this.#stall = { state: 'reported', cause: this.#reportStall(milliseconds) }
    }
    if (this.#stall.state !== 'reported') {
      this.#heartbeatAll(undefined, now)
      return
    }
    const { cause } = this.#stall
    const note = describeStall(cause, milliseconds, false)
    if (milliseconds > this.#blockLimitMs()) {
      this.#stall = { state: 'abandoned', cause }
      this.#abandon(note)
      return
    }
    this.#heartbeatAll(note, now)
  }

  /** Start of the time in which the process ran and the event loop did not. */
  #blockedSince(): number {
    return Math.max(this.#lastTickAt, this.#notBefore)
  }

  #endStall(tickAt: number): void {
    if ('cause' in this.#stall) {
      const message = describeStall(this.#stall.cause, tickAt - this.#blockedSince(), true)
      this.#actions.send({ type: 'ended', message })
    }
    this.#stall = { state: 'none' }
    this.#lastTickAt = tickAt
    this.#schedulingDelayMs = this.#actions.schedulingDelayMs()
  }

  #reportStall(milliseconds: number): BlockCause {
    const active = this.#active()
    const cause = { name: active ? labelOf(active) : null }
    const where = active ? ` (run ${active.workflowId}). ${blockedLoopAdvice}` : ''
    this.#actions.log(`${describeStall(cause, milliseconds, false)}${where}`)
    this.#actions.send({ type: 'blocked', cause })
    return cause
  }

  /** The tool call, or the activity of the user, whose own code runs. */
  #active(): WatchedActivity | undefined {
    return this.#entries.get(this.#state.activeCallId)?.activity
  }

  #blockLimitMs(): number {
    const timeouts = [...this.#entries.values()].map(({ activity }) => activity.toolTimeoutMs ?? 0)
    return Math.max(minBlockLimitMs, Math.max(0, ...timeouts) + marginMs)
  }

  /** The block may never end. Other workers retry the other activities, but not the call that blocks. */
  #abandon(message: string): void {
    const call = this.#active()
    if (call?.toolTimeoutMs === undefined) {
      this.#actions.log(`${message}: the activities of this process time out and are retried elsewhere`)
      return
    }
    this.#actions.log(
      `${message}: the call fails without retry; other activities of this process time out and are retried elsewhere`,
    )
    this.#actions.fail(call, `${message}. ${blockedLoopAdvice}`).catch(() => undefined)
  }

  #heartbeatAll(note: string | undefined, now: number): void {
    for (const entry of this.#entries.values()) this.#heartbeat(entry, note, now)
  }

  #heartbeat(entry: WatchedEntry, note: string | undefined, now: number): void {
    const { activity } = entry
    const { id, heartbeatTimeoutMs, details } = activity
    const isDue = now - entry.lastSentAt >= heartbeatTimeoutMs / 3
    if (heartbeatTimeoutMs === 0 || entry.isSending || !isDue || (details?.length ?? 0) > maxDetailsCharacters) return
    entry.isSending = true
    entry.lastSentAt = now
    this.#actions
      .heartbeat(activity, withNote(details === undefined ? undefined : JSON.parse(details), note))
      .then(
        (reply) =>
          this.#actions.send(
            reply === 'ok' ? { type: 'heartbeatRecorded', id, at: now } : { type: 'stop', id, reason: reply },
          ),
        // The next heartbeat may succeed.
        () => undefined,
      )
      .finally(() => (entry.isSending = false))
  }
}

const blockedLoopAdvice =
  'Nothing else runs in this process until it returns: let a tool compute in its own thread or process'

function labelOf({ activityType, isUserActivity }: WatchedActivity): string {
  return `${isUserActivity === true ? 'activity' : 'tool'} ${activityType}`
}
