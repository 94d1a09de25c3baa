import type { ProgramResult } from '../../src/common/runs.js'
import type { Stack } from '../support/stack.js'
import { watchStalls } from '../support/stalls.js'
import { Happening, tool } from '../support/tools.js'

/** What became of a run that did nothing wrong. */
export interface Beside {
  readonly outcome: ProgramResult['outcome']
  /** Attempts that each of its tools was given. */
  readonly attempts: Readonly<Record<string, readonly number[]>>
  /** The longest stall of the worker's event loop meanwhile, in milliseconds. */
  readonly stallMs: number
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

  async beside(stack: Stack, work: () => Promise<unknown>): Promise<Beside> {
    this.#attempts = {}
    this.#free = new Happening()
    this.#begun = new Happening()
    const source = 'import asyncio\nprint(await asyncio.gather(idempotent_tool(), once_tool()))'
    const run = await stack.startProgram(source)
    await this.#begun.happened
    const stalls = watchStalls()
    try {
      await work()
    } finally {
      this.#free.happen('free')
    }
    const stallMs = stalls.stop()
    const { outcome } = (await run.result()) as ProgramResult
    return { outcome, attempts: this.#attempts, stallMs }
  }
}

/** What must have become of it. */
export const unharmed = {
  outcome: { status: 'ok', output: "['free', 'free']\n" },
  attempts: { idempotent: [1], once: [1] },
}
