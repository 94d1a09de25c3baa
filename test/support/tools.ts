import { z } from 'zod'
import { defineTool, type Tool, type ToolContext, type ToolDefinition } from '../../src/index.js'
import type { JsonObject } from '../../src/common/json/json.js'

type Run = (input: JsonObject, context: ToolContext) => unknown
export type ToolOptions = Partial<Omit<ToolDefinition<z.ZodObject, z.ZodType>, 'name' | 'run'>>

/** A tool with permissive schemas, whose implementation is a function of the test. */
export function tool(name: string, run: Run, options: ToolOptions = {}): Tool {
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

/** Blocks until `count` callers have arrived. */
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

/** A promise that a test resolves. */
export class Deferred<T = void> {
  #settle: (value: T) => void = () => undefined
  readonly promise = new Promise<T>((resolve) => (this.#settle = resolve))

  /** Returns null, so that a tool can return the result of this call. */
  resolve(value: T): null {
    this.#settle(value)
    return null
  }
}
