import { vi } from 'vitest'
import { z } from 'zod'
import { defineTool, type Effect, type Tool } from '../../src/index.js'
import { fastPollOptions } from './poll-options.js'

interface DeferredToolOptions {
  readonly effect?: Effect
  readonly expires?: `${number}s` | `${number}d`
  /** Called after the token is known. */
  readonly onCall?: (id: number) => void | Promise<void>
  /** Called when a worker checks a result. */
  readonly onCheck?: () => Promise<void>
}

/** The calls of deferred tools, which a test completes by the ids of the calls. */
export class DeferredToolCalls {
  readonly #tokens = new Map<number, string>()

  tool(name: string, { effect = 'idempotent', expires = '3d', onCall, onCheck }: DeferredToolOptions = {}): Tool {
    const output = z.object({ approved: z.boolean() })
    return defineTool({
      name,
      description: 'Asks a person.',
      input: z.object({ id: z.int() }),
      output: onCheck ? output.refine(() => onCheck().then(() => true)) : output,
      effect,
      deferred: { expires },
      summary: ({ id }) => `${name} ${id}`,
      run: async ({ id }, { completionToken }) => {
        this.#tokens.set(id, completionToken)
        await onCall?.(id)
      },
    }) as Tool
  }

  /** The token of the call with this id, as soon as its tool has received it. */
  token(id: number): Promise<string> {
    return vi.waitUntil(() => this.#tokens.get(id), fastPollOptions)
  }
}
