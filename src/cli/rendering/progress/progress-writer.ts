import type { RunTree } from '../../../client/run-tree/index.js'
import { createColors } from '../text/colors.js'
import { formatLine } from '../text/line.js'
import { type Draft, renderDraft } from './draft.js'
import { milestones, unservedMilestones } from './milestones.js'
import { renderProgress } from './render-progress.js'

/** Target of the progress, such as `process.stderr`. */
interface ProgressStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

export interface ProgressWriterOptions {
  readonly stream: ProgressStream
  readonly color: boolean
  /** `live`: only the live lines, and queues without a worker. Default: everything. */
  readonly content?: 'everything' | 'live' | undefined
}

const redrawMs = 250
const defaultColumns = 80

/**
 * Writes the progress of a run to a stream. Each milestone is printed once. On a terminal the current state stands
 * below the milestones and is redrawn in place; elsewhere transient milestones are printed instead.
 */
export class ProgressWriter {
  readonly #stream: ProgressStream
  readonly #color: boolean
  readonly #content: NonNullable<ProgressWriterOptions['content']>
  readonly #printedKeys = new Set<string>()
  readonly #timer: NodeJS.Timeout | undefined
  #tree: RunTree | undefined
  #draft: Draft | undefined
  #live = ''
  #closed = false

  constructor({ stream, color, content = 'everything' }: ProgressWriterOptions) {
    this.#stream = stream
    this.#color = color
    this.#content = content
    // The live line shows elapsed time, also between two events.
    this.#timer = stream.isTTY ? setInterval(() => this.#draw(''), redrawMs).unref() : undefined
  }

  /** Takes the current tree. */
  update(tree: RunTree): void {
    this.#tree = tree
    const columns = this.#columns
    const colors = createColors(this.#color)
    const newMilestones = (
      this.#content === 'live' ? unservedMilestones(tree, columns) : milestones(tree, columns)
    ).filter(({ key, isTransient }) => !this.#printedKeys.has(key) && !(isTransient && this.#stream.isTTY))
    for (const { key } of newMilestones) this.#printedKeys.add(key)
    this.#draw(
      newMilestones.flatMap(({ lines }) => lines().map((line) => `${formatLine(line, columns, colors)}\n`)).join(''),
    )
  }

  /** Shows the end of what the model is writing below the live lines, at the next redraw. Undefined: nothing. */
  setDraft(draft: Draft | undefined): void {
    this.#draft = draft
  }

  /** Prints another line above the live lines. */
  print(line: string): void {
    this.#draw(`${line}\n`)
  }

  /** Removes the live lines. Idempotent. */
  close(): void {
    clearInterval(this.#timer)
    this.#tree = undefined
    this.#draw('')
    this.#closed = true
  }

  get #columns(): number {
    return this.#stream.columns || defaultColumns
  }

  /** Prints permanent text, with the live lines below it. One write avoids flicker. */
  #draw(permanentText: string): void {
    if (this.#closed) return
    const live = this.#stream.isTTY && this.#tree ? this.#render(this.#tree) : ''
    if (permanentText === '' && live === this.#live) return
    const up = this.#live.split('\n').length - 1
    const erase = up === 0 ? '' : `\x1b[${up}A\r\x1b[J`
    this.#live = live
    this.#stream.write(erase + permanentText + live)
  }

  #render(tree: RunTree): string {
    const live = renderProgress(tree, { width: this.#columns, color: this.#color })
    const draft = this.#draft ? renderDraft(this.#draft, this.#columns, this.#color).join('') : ''
    return live === '' ? '' : `${live}\n${draft}`
  }
}
