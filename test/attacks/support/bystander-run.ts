import { expect, vi } from 'vitest'
import type { ProgramResult } from '../../../src/common/run/runs.js'
import { EventLoopWatchdog } from '../../../src/worker/watchdog/event-loop-watchdog.js'
import type { TestEnvironment } from '../../support/environment/test-environment.js'
import { type EventLoopDelay, monitorEventLoopDelay } from '../../support/faults/event-loop-delay.js'
import { Deferred, tool } from '../../support/tools.js'

/** Timings under which an event loop blocked for two seconds loses an attempt: see {@link disableHeartbeatThread}. */
export const shortHeartbeats = { heartbeat: '2s' } as const

/**
 * Until the end of the test file, the watch thread of a worker, which sends heartbeats while the event loop is blocked,
 * gets no activities. So all heartbeats depend on the event loop.
 */
export function disableHeartbeatThread(): void {
  vi.spyOn(EventLoopWatchdog.prototype, 'send').mockReturnValue(undefined)
}

/** The result of a bystander run. */
export interface BystanderResult<Given> extends EventLoopDelay {
  readonly outcome: ProgramResult['outcome']
  /** The number of attempts of each tool call. */
  readonly attempts: Readonly<Record<string, readonly number[]>>
  /** The result of the work that ran at the same time. */
  readonly workResult: Given
}

/**
 * A run whose tools take as long as the work that runs at the same time: a stalled worker delays their heartbeats
 * first.
 */
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

/** The expected result. */
export const unaffected = {
  outcome: { status: 'ok', output: "['free', 'free']\n" },
  attempts: { idempotent: [1], once: [1] },
}

/** Milliseconds for which a sandbox may block the event loop of its worker. */
export const maxStallMs = 250

/** Milliseconds of waiting for a CPU after which heartbeats may be late, independently of a sandbox. */
const maxCpuWaitAllowedMs = 500

/** Expects no late heartbeat and no lost attempt. On a busy machine lost attempts prove nothing. */
export function expectUnaffected({ maxDelayMs, maxCpuWaitMs, outcome, attempts }: BystanderResult<unknown>): void {
  expect(maxDelayMs).toBeLessThan(maxStallMs)
  if (maxCpuWaitMs < maxCpuWaitAllowedMs) expect({ outcome, attempts }).toMatchObject(unaffected)
}
