import { expect, vi } from 'vitest'
import type { ProgramResult } from '../../src/common/runs.js'
import { StallWatch } from '../../src/worker/stall/stall-watch.js'
import type { Stack } from '../support/stack.js'
import { type Stalls, watchStalls } from '../support/stalls.js'
import { Happening, tool } from '../support/tools.js'

/** Timings under which an event loop that does not run for two seconds costs an attempt: see {@link silenceWatchThread}. */
export const shortHeartbeats = { heartbeat: '2s' } as const

/**
 * For the rest of a test file: the watch thread of a worker, which sends heartbeats while the event loop is blocked,
 * knows of no activity. So all heartbeats depend on the event loop.
 */
export function silenceWatchThread(): void {
  vi.spyOn(StallWatch.prototype, 'tell').mockReturnValue(undefined)
}

/** What became of a run that did nothing wrong. */
export interface Beside<Given> extends Stalls {
  readonly outcome: ProgramResult['outcome']
  /** Attempts that each of its tools was given. */
  readonly attempts: Readonly<Record<string, readonly number[]>>
  /** What the work beside it gave. */
  readonly given: Given
}

/** A run whose tools are under way for as long as something is done beside it: the first to suffer when its worker stalls. */
export class InnocentRun {
  #attempts: Record<string, number[]> = {}
  #free = new Happening<string>()
  #begun = new Happening()
  readonly tools = (['idempotent', 'once'] as const).map((effect) =>
    tool(
      `${effect}_tool`,
      (_input, { attempt }) => {
        ;(this.#attempts[effect] ??= []).push(attempt)
        if (Object.keys(this.#attempts).length === 2) this.#begun.happen()
        return this.#free.happened
      },
      { effect, timeout: '10m' },
    ),
  )

  async beside<Given>(stack: Stack, work: () => Promise<Given>): Promise<Beside<Given>> {
    this.#attempts = {}
    this.#free = new Happening()
    this.#begun = new Happening()
    const source = 'import asyncio\nprint(await asyncio.gather(idempotent_tool(), once_tool()))'
    const run = await stack.startProgram(source)
    await this.#begun.happened
    const stalls = watchStalls()
    const given = await work().finally(() => this.#free.happen('free'))
    const stalled = stalls.stop()
    const { outcome } = (await run.result()) as ProgramResult
    return { outcome, attempts: this.#attempts, ...stalled, given }
  }
}

/** What must have become of it. */
export const unharmed = {
  outcome: { status: 'ok', output: "['free', 'free']\n" },
  attempts: { idempotent: [1], once: [1] },
}

/** Milliseconds that nothing a sandbox does may keep its worker from other runs. */
export const mostStallMs = 250

/** Milliseconds: whoever waits so long for a processor may send heartbeats too late, whatever a sandbox does. */
const mostStarvedMs = 500

/** No heartbeat was late, and none of its attempts was lost; of the latter a busy machine proves nothing. */
export function expectUnharmed({ stallMs, starvedMs, outcome, attempts }: Beside<unknown>): void {
  expect(stallMs).toBeLessThan(mostStallMs)
  if (starvedMs < mostStarvedMs) expect({ outcome, attempts }).toMatchObject(unharmed)
}
