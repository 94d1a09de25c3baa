import { CellOutput } from '../common/cell-output.js'
import type { HeldText } from '../common/messages.js'
import { type Held, type HeldElsewhere, isHeldElsewhere, refOf } from '../common/values.js'

/** What a cell has printed so far: text in place, between pieces that are kept elsewhere. */
export class PrintedOutput {
  readonly #limit: number
  readonly #parts: (CellOutput | HeldElsewhere)[] = []
  #length: number

  /**
   * @param limit characters that are kept in the end
   * @param before parts and length of what was printed in an earlier run of the chain
   */
  constructor(limit: number, before: { readonly parts: readonly Held<string>[]; readonly length: number }) {
    this.#limit = limit
    for (const part of before.parts) this.add(part)
    this.#length = before.length
  }

  /** Characters that were printed, kept or not. */
  get length(): number {
    return this.#length
  }

  add(output: Held<string>): void {
    if (isHeldElsewhere(output)) {
      this.#parts.push(output)
      this.#length += refOf(output)?.bytes ?? 0
      return
    }
    if (output === '') return
    let last = this.#parts.at(-1)
    if (!(last instanceof CellOutput)) {
      last = new CellOutput(this.#limit)
      this.#parts.push(last)
    }
    last.add(output)
    this.#length += output.length
  }

  get parts(): Held<string>[] {
    return this.#parts.map((part) => (part instanceof CellOutput ? part.text : part))
  }

  /** All of it when it is in place; else what it is to be put together from. */
  get text(): string | HeldText {
    const [first = '', ...more] = this.parts
    if (typeof first === 'string' && more.length === 0) return first
    return { parts: this.parts, limit: this.#limit, after: '' }
  }
}
