import { HeadTailBuffer } from '../../common/head-tail-buffer.js'
import type { TextParts } from '../../common/messages.js'
import { type Externalizable, type ExternalValue, isExternal, refOf } from '../../common/external-value.js'

/** What a cell has printed so far: text in place, between pieces that are kept elsewhere. */
export class OutputBuffer {
  readonly #limit: number
  readonly #parts: (HeadTailBuffer | ExternalValue)[] = []
  #length: number

  /**
   * @param limit characters that are kept in the end
   * @param before parts and length of what was printed in an earlier run of the chain
   */
  constructor(limit: number, before: { readonly parts: readonly Externalizable<string>[]; readonly length: number }) {
    this.#limit = limit
    for (const part of before.parts) this.add(part)
    this.#length = before.length
  }

  /** Characters that were printed, kept or not. */
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

  /** All of it when it is in place; else what it is to be put together from. */
  get text(): string | TextParts {
    const [first = '', ...more] = this.parts
    if (typeof first === 'string' && more.length === 0) return first
    return { parts: this.parts, limit: this.#limit, suffix: '' }
  }
}
