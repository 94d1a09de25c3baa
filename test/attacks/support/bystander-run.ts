import { expect, vi } from 'vitest'
import type { ProgramResult } from '../../../src/common/runs.js'
import { EventLoopWatchdog } from '../../../src/worker/watchdog/event-loop-watchdog.js'
import type { TestEnvironment } from '../../support/environment/test-environment.js'
import { type EventLoopDelay, monitorEventLoopDelay } from '../../support/faults/event-loop-delay.js'
import { Deferred, tool } from '../../support/tools.js'

/** Timings under which an event loop that does not run for two seconds costs an attempt: see {@link disableHeartbeatThread}. */
export const shortHeartbeats = { heartbeat: '2s' } as const

/**
 * For the rest of a test file: the watch thread of a worker, which sends heartbeats while the event loop is blocked,
 * knows of no activity. So all heartbeats depend on the event loop.
 */
export function disableHeartbeatThread(): void {
  vi.spyOn(EventLoopWatchdog.prototype, 'send').mockReturnValue(undefined)
}

/** What became of a run that did nothing wrong. */
export interface BystanderResult<Given> extends EventLoopDelay {
  readonly outcome: ProgramResult['outcome']
  /** Attempts that each of its tools was given. */
  readonly attempts: Readonly<Record<string, readonly number[]>>
  /** What the work beside it gave. */
  readonly workResult: Given
}

/** A run whose tools are under way for as long as something is done beside it: the first to suffer when its worker stalls. */
export class BystanderRun {
  #attempts: Record<string, number[]> = {}
  #release = new Deferred<string>()
  #started = new Deferred()
  readonly tools = (['idempotent', 'once'] as const).map((effect) =>
    tool(
      `${effect}_tool`,
      (_input, { attempt }) => {
        ;(this.#attempts[effect] ??= []).push(attempt)
        if (Object.keys(this.#attempts).length === 2) this.#started.resolve()
        return this.#release.promise
      },
      { effect, timeout: '10m' },
    ),
  )

  async runDuring<Given>(env: TestEnvironment, work: () => Promise<Given>): Promise<BystanderResult<Given>> {
    this.#attempts = {}
    this.#release = new Deferred()
    this.#started = new Deferred()
    const source = 'import asyncio\nprint(await asyncio.gather(idempotent_tool(), once_tool()))'
    const run = await env.startProgram(source)
    await this.#started.promise
    const stalls = monitorEventLoopDelay()
    const workResult = await work().finally(() => this.#release.resolve('free'))
    const stalled = stalls.stop()
    const { outcome } = (await run.result()) as ProgramResult
    return { outcome, attempts: this.#attempts, ...stalled, workResult }
  }
}

/** What must have become of it. */
export const unaffected = {
  outcome: { status: 'ok', output: "['free', 'free']\n" },
  attempts: { idempotent: [1], once: [1] },
}

/** Milliseconds that nothing a sandbox does may keep its worker from other runs. */
export const maxStallMs = 250

/** Milliseconds: whoever waits so long for a processor may send heartbeats too late, whatever a sandbox does. */
const maxCpuWaitAllowedMs = 500

/** No heartbeat was late, and none of its attempts was lost; of the latter a busy machine proves nothing. */
export function expectUnaffected({ maxDelayMs, maxCpuWaitMs, outcome, attempts }: BystanderResult<unknown>): void {
  expect(maxDelayMs).toBeLessThan(maxStallMs)
  if (maxCpuWaitMs < maxCpuWaitAllowedMs) expect({ outcome, attempts }).toMatchObject(unaffected)
}
