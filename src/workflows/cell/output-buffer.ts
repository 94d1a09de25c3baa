import { HeadTailBuffer } from '../../common/text/head-tail-buffer.js'
import { TerminalText } from '../../common/text/terminal-text.js'
import type { TextParts } from '../../common/agent/messages.js'
import type { DescribedStepResult } from '../../common/session/steps.js'
import { cutRanges, maxTextRanges, moveRanges, type TextRange } from '../../common/text/text-ranges.js'
import { type Externalizable, type ExternalValue, isExternal, refOf } from '../../common/json/external-value.js'

export type OutputReader = 'model' | 'caller'

/** The output of a cell in an earlier execution of the continue-as-new chain. */
export interface OutputState {
  readonly parts: readonly Externalizable<string>[]
  readonly length: number
  /** Absent: nothing was printed to stderr. */
  readonly stderr?: readonly TextRange[]
}

/** The output of a step. */
export type StepOutput = Pick<Extract<DescribedStepResult, { type: 'completed' }>, 'output' | 'stderr' | 'outputLength'>

/** The output of a cell so far: text, between external values. */
export class OutputBuffer {
  readonly #limit: number
  readonly #parts: (HeadTailBuffer | ExternalValue)[] = []
  /** Used when a model reads the output: it removes the earlier states of a progress bar. */
  readonly #terminal: TerminalText | undefined
  /**
   * True after an external part. The terminal view of the text that follows depends on that part, so the activity that
   * joins the parts computes it.
   */
  #hasExternal = false
  #length: number
  /** The parts of the printed text, before it was cut, that were printed to stderr. */
  #stderr: readonly TextRange[]

  /**
   * @param limit characters of output that the reader gets
   * @param reader a caller gets the printed text, a model the text that a terminal would show
   * @param before parts and length of the output in earlier executions of the continue-as-new chain
   */
  constructor(limit: number, reader: OutputReader, before: OutputState) {
    this.#limit = limit
    this.#terminal = reader === 'model' ? new TerminalText((text) => this.#append(text)) : undefined
    for (const part of before.parts) this.#addText(part)
    this.#length = before.length
    this.#stderr = before.stderr ?? []
  }

  /** Characters that the cell has printed, including those that were cut. */
  get length(): number {
    return this.#length
  }

  add({ output, stderr = [], outputLength }: StepOutput): void {
    this.#addText(output)
    // A model gets no parts.
    if (stderr.length > 0 && !this.#terminal)
      this.#stderr = [...this.#stderr, ...moveRanges(stderr, this.#length)].slice(-maxTextRanges)
    this.#length += outputLength ?? (typeof output === 'string' ? output.length : (refOf(output)?.bytes ?? 0))
  }

  #addText(output: Externalizable<string>): void {
    if (isExternal(output)) {
      this.#terminal?.flush()
      this.#hasExternal = true
      this.#parts.push(output)
    } else if (this.#terminal && !this.#hasExternal) this.#terminal.add(output)
    else this.#append(output)
  }

  #append(text: string): void {
    if (text === '') return
    let last = this.#parts.at(-1)
    if (!(last instanceof HeadTailBuffer)) {
      last = new HeadTailBuffer(this.#limit)
      this.#parts.push(last)
    }
    last.add(text)
  }

  get state(): OutputState {
    return { parts: this.parts, length: this.#length, ...(this.#stderr.length > 0 && { stderr: this.#stderr }) }
  }

  /**
   * Returns the parts of the text for the reader that were printed to stderr. None when more than one part was cut: then
   * their places are unknown.
   *
   * @param shown length of the text
   */
  stderrOf(shown: number): readonly TextRange[] {
    const isCut = (part: HeadTailBuffer | ExternalValue) => part instanceof HeadTailBuffer && part.length > this.#limit
    if (this.#parts.length > 1 && this.#parts.some(isCut)) return []
    return cutRanges(this.#stderr, this.#limit, this.#length, shown)
  }

  get parts(): Externalizable<string>[] {
    const parts = this.#parts.map((part) => (part instanceof HeadTailBuffer ? part.text : part))
    const openText = this.#terminal?.openText ?? ''
    if (openText === '') return parts
    const last = parts.at(-1)
    return typeof last === 'string' ? [...parts.slice(0, -1), last + openText] : [...parts, openText]
  }

  /** The whole output, or its parts when some of them are external. Read after the last addition. */
  get text(): string | TextParts {
    if (!this.#hasExternal) this.#terminal?.end()
    const [first = '', ...more] = this.parts
    if (typeof first === 'string' && more.length === 0) return first
    return { parts: this.parts, limit: this.#limit, suffix: '', ...(this.#terminal && { isTerminal: true }) }
  }
}
