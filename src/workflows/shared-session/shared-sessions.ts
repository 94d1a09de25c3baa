import { defineSignal } from '@temporalio/workflow'
import { cellReplySignal } from '../../common/names.js'
import type { CellReply } from '../../common/session/shared-cells.js'
import type { RunCalls } from '../calls/run-calls.js'
import { handleSignal } from '../temporal/failures.js'
import { type Continuation, SharedSession, type SharedSessionState } from './shared-session.js'

export interface SharedSessionsState {
  /** Absent: the run has its own session. */
  readonly sharedSession?: SharedSessionState
  /** By name. Absent: the run holds no further sessions. */
  readonly heldSessions?: Readonly<Record<string, SharedSessionState>>
}

const cellReply = defineSignal<[CellReply]>(cellReplySignal)

/** The sessions of other workflows in which the code of a run is executed. */
export class SharedSessions {
  /** In the place of the session of the run. Undefined: the run has its own. */
  readonly #owned: SharedSession | undefined
  /** The further sessions of the run, by name. */
  readonly #held: ReadonlyMap<string, SharedSession>

  constructor(
    calls: Pick<RunCalls, 'run' | 'dataFlow'>,
    continuation: Continuation,
    { sharedSession, heldSessions = {} }: SharedSessionsState = {},
  ) {
    const { sessionOwner, heldSessions: configured = [] } = calls.run.config
    this.#owned = sessionOwner && new SharedSession(calls, sessionOwner, continuation, sharedSession)
    this.#held = new Map(
      configured.map((session) => [
        session.name,
        new SharedSession(calls, { type: 'held', ...session }, continuation, heldSessions[session.name]),
      ]),
    )
    if (!this.isEmpty) handleSignal(cellReply, (reply) => this.#all.forEach((session) => session.receive(reply)))
  }

  get #all(): readonly SharedSession[] {
    return [...(this.#owned ? [this.#owned] : []), ...this.#held.values()]
  }

  /** True when no other workflow executes code of the run. */
  get isEmpty(): boolean {
    return this.#all.length === 0
  }

  /** The names of the further sessions. */
  get names(): readonly string[] {
    return [...this.#held.keys()]
  }

  /** True when another workflow executes all code that names no session. */
  get replacesOwn(): boolean {
    return this.#owned !== undefined
  }

  /**
   * Returns the session that executes a cell; undefined for that of the run.
   *
   * @param name of a further session. Undefined: the cell names none
   */
  of(name: string | undefined): SharedSession | undefined {
    return name === undefined ? this.#owned : this.#held.get(name)
  }

  /** Read between two cells, or while an owner has a cell. */
  get state(): SharedSessionsState {
    const used = [...this.#held].map(([name, { state }]) => [name, state] as const)
    const held = used.filter(([, state]) => Object.keys(state).length > 0)
    return {
      ...(this.#owned && { sharedSession: this.#owned.state }),
      ...(held.length > 0 && { heldSessions: Object.fromEntries(held) }),
    }
  }

  get hasCell(): boolean {
    return this.#all.some(({ hasCell }) => hasCell)
  }

  /** Interrupts the cell in progress, as Ctrl-C does. */
  interrupt(): void {
    for (const session of this.#all) session.interrupt()
  }

  /** Gives up the cell in progress, and ends the further sessions. */
  async close(): Promise<void> {
    await Promise.all(this.#all.map((session) => session.close()))
  }
}
