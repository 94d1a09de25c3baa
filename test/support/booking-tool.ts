import { z } from 'zod'
import { defineTool, type Effect, type Tool, ToolError, type ToolDefinition } from '../../src/index.js'

const input = z.object({
  what: z.string(),
  attempts: z.int().default(1),
  ending: z.enum(['lose', 'refuse']).optional(),
})
const output = z.object({ id: z.string() })
type Options = Partial<Pick<ToolDefinition<typeof input, typeof output>, 'approval'>> & {
  /** Called after the effect. */
  readonly onBooked?: (signal: AbortSignal) => Promise<void>
}

/**
 * Bookings and inverses in their order: `flight` is a booking, `-flight` its inverse, `-flight?` an inverse without a
 * result.
 */
export class Bookings {
  readonly all: string[] = []
  /** Idempotency keys of bookings and inverses, by name. */
  readonly keys: Record<string, string> = {}
  /** Attempts of the inverse of each booking. */
  readonly #attempts: Record<string, number> = {}

  /** Names with this prefix, because tests share the tool. */
  of(prefix: string): readonly string[] {
    return this.all.filter((name) => name.replace('-', '').startsWith(prefix))
  }

  /**
   * A tool that books `what`. `attempts`: the attempt at which the inverse succeeds; 0: never. `ending: 'lose'`: the
   * call fails after its effect, `'refuse'`: without an effect.
   */
  tool(name = 'book', effect: Exclude<Effect, 'read'> = 'idempotent', { onBooked, ...options }: Options = {}): Tool {
    return defineTool({
      name,
      description: 'Books something.',
      input,
      output,
      effect,
      ...(effect !== 'once' && { retry: { attempts: 2, initialInterval: 1 } }),
      ...options,
      summary: ({ what }) => `${name} ${what}`,
      run: async ({ what, ending }, { idempotencyKey, attempt, signal }) => {
        if (ending === 'refuse') throw new ToolError(`no ${what}`)
        // The first attempt may have been lost before it began.
        if (attempt === 1 || this.keys[what] !== idempotencyKey) this.all.push(what)
        this.keys[what] = idempotencyKey
        if (ending === 'lose') throw new Error('the connection broke')
        await onBooked?.(signal)
        return { id: `id of ${what}` }
      },
      compensate: ({ arguments: { what, attempts }, result, idempotencyKey }, context) => {
        const attempt = (this.#attempts[what] ?? 0) + 1
        this.#attempts[what] = attempt
        if (idempotencyKey !== this.keys[what]) throw new Error('this is not the key of the call')
        if (result && result.id !== `id of ${what}`) throw new Error('this is not the result of the call')
        if (attempts === 0) throw new ToolError(`${what} can't be cancelled`)
        if (attempt < attempts) throw new Error('try again')
        this.keys[`-${what}`] = context.idempotencyKey
        this.all.push(`-${what}${result ? '' : '?'}`)
      },
    })
  }
}
