import { HeadTailBuffer } from '../../common/text/head-tail-buffer.js'
import type { TextParts } from '../../common/runs/messages.js'
import { type Externalizable, type ExternalValue, isExternal, refOf } from '../../common/json/external-value.js'

/** The output of a cell so far: text, between external values. */
export class OutputBuffer {
  readonly #limit: number
  readonly #parts: (HeadTailBuffer | ExternalValue)[] = []
  #length: number

  /**
   * @param limit characters of output that the reader gets
   * @param before parts and length of the output in earlier executions of the continue-as-new chain
   */
  constructor(limit: number, before: { readonly parts: readonly Externalizable<string>[]; readonly length: number }) {
    this.#limit = limit
    for (const part of before.parts) this.add(part)
    this.#length = before.length
  }

  /** Characters that the cell has printed, including those that were cut. */
  get length(): number {
    return this.#length
  }

  add(output: Externalizable<string>): void {
    if (isExternal(output)) {
      this.#parts.push(output)
      this.#length += refOf(output)?.bytes ?? 0
      return
    }
    if (output === '') return
    let last = this.#parts.at(-1)
    if (!(last instanceof HeadTailBuffer)) {
      last = new HeadTailBuffer(this.#limit)
      this.#parts.push(last)
    }
    last.add(output)
    this.#length += output.length
  }

  get parts(): Externalizable<string>[] {
    return this.#parts.map((part) => (part instanceof HeadTailBuffer ? part.text : part))
  }

  /** The whole output, or its parts when some of them are external. */
  get text(): string | TextParts {
    const [first = '', ...more] = this.parts
    if (typeof first === 'string' && more.length === 0) return first
    return { parts: this.parts, limit: this.#limit, suffix: '' }
  }
}
