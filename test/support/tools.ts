import { z } from 'zod'
import { defineTool, type Tool, type ToolContext, type ToolDefinition } from '../../src/index.js'
import type { JsonObject } from '../../src/common/json.js'

type Run = (input: JsonObject, context: ToolContext) => unknown
type Options = Partial<Omit<ToolDefinition<z.ZodObject, z.ZodType>, 'name' | 'run'>>

/** A tool that takes and gives anything, and does what the test says. */
export function tool(name: string, run: Run, options: Options = {}): Tool {
  return defineTool({
    name,
    description: `The ${name} of a test.`,
    input: z.looseObject({}),
    output: z.unknown(),
    effect: 'read',
    ...options,
    run: (input, context) => run(input as JsonObject, context),
  })
}

/** Lets nobody through before so many have arrived. */
export class Barrier {
  readonly #count: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#count = count
  }

  async arrive(): Promise<void> {
    if (this.#waiting.length + 1 < this.#count) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    for (const release of this.#waiting.splice(0)) release()
  }
}

/** Something that happens once and can be waited for, with what came of it. */
export class Deferred<T = void> {
  #settle: (value: T) => void = () => undefined
  readonly promise = new Promise<T>((resolve) => (this.#settle = resolve))

  /** Gives null, so that a tool can end with it. */
  resolve(value: T): null {
    this.#settle(value)
    return null
  }
}

/** Settles when the signal is aborted. */
export function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
