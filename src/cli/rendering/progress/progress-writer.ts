import type { RunTree } from '../../../client/run-tree/index.js'
import { createColors } from '../text/colors.js'
import { formatLine } from '../text/line.js'
import { type LiveText, renderLiveText } from './live-text.js'
import { milestones, unservedMilestones, waitMilestones } from './milestones.js'
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
  /** `live`: only the live lines, the waits of the run, and queues without a worker. Default: everything. */
  readonly content?: 'everything' | 'live' | undefined
}

const redrawMs = 250
/** Columns of a terminal that does not report them. */
const terminalColumns = 80
/** Columns of a stream that is not a terminal: no line is wrapped. */
const defaultColumns = 10_000

/**
 * Writes the progress of a run to a stream. Each milestone is printed once. On a terminal, the current state is below
 * the milestones and is redrawn in place. Elsewhere, transient milestones are printed instead.
 */
export class ProgressWriter {
  readonly #stream: ProgressStream
  readonly #color: boolean
  readonly #content: NonNullable<ProgressWriterOptions['content']>
  readonly #printedKeys = new Set<string>()
  readonly #timer: NodeJS.Timeout | undefined
  #tree: RunTree | undefined
  #liveText: LiveText | undefined
  /** The output of the running cell. */
  #output = ''
  /** The last milestones of calls, by idempotency key. */
  readonly #toolMilestones = new Map<string, string>()
  /** The user is typing at the terminal: nothing is written. */
  #isSuspended = false
  #live = ''
  #closed = false

  constructor({ stream, color, content = 'everything' }: ProgressWriterOptions) {
    this.#stream = stream
    this.#color = color
    this.#content = content
    // The live line shows the elapsed time, also between two events.
    this.#timer = stream.isTTY ? setInterval(() => this.#draw(''), redrawMs).unref() : undefined
  }

  /**
   * Takes the current tree.
   *
   * @param output of the running cell, to show below the live lines
   */
  update(tree: RunTree, output = ''): void {
    this.#tree = tree
    this.#output = output
    if (this.#isSuspended) return
    const columns = this.#columns
    const colors = createColors(this.#color)
    const newMilestones = (
      this.#content === 'live'
        ? [...waitMilestones(tree, columns), ...unservedMilestones(tree, columns)]
        : milestones(tree, columns)
    ).filter(({ key, isTransient }) => !this.#printedKeys.has(key) && !(isTransient && this.#stream.isTTY))
    for (const { key } of newMilestones) this.#printedKeys.add(key)
    this.#draw(
      newMilestones.flatMap(({ lines }) => lines().map((line) => `${formatLine(line, columns, colors)}\n`)).join(''),
    )
  }

  /** Shows the end of the live text below the live lines at the next redraw. Undefined hides it. */
  setLiveText(liveText: LiveText | undefined): void {
    this.#liveText = liveText
  }

  /** Shows the last milestone of a call at the next redraw. */
  setMilestone(idempotencyKey: string, text: string): void {
    this.#toolMilestones.set(idempotencyKey, text)
  }

  /** Removes the live lines, and writes nothing until {@link resume}. */
  suspend(): void {
    this.#draw('', false)
    this.#isSuspended = true
  }

  resume(): void {
    this.#isSuspended = false
    if (this.#tree) this.update(this.#tree, this.#output)
  }

  /** Prints another line above the live lines. */
  print(line: string): void {
    this.#draw(`${line}\n`)
  }

  /** Removes the live lines. Idempotent. */
  close(): void {
    clearInterval(this.#timer)
    this.#isSuspended = false
    this.#tree = undefined
    this.#draw('')
    this.#closed = true
  }

  get #columns(): number {
    return this.#stream.columns || (this.#stream.isTTY ? terminalColumns : defaultColumns)
  }

  /** Prints permanent text, with the live lines below it. One write avoids flicker. */
  #draw(permanentText: string, isLive = true): void {
    if (this.#closed) return
    if (this.#isSuspended) return void (permanentText !== '' && this.#stream.write(permanentText))
    const live = this.#stream.isTTY && this.#tree && isLive ? this.#render(this.#tree) : ''
    if (permanentText === '' && live === this.#live) return
    const up = this.#live.split('\n').length - 1
    const erase = up === 0 ? '' : `\x1b[${up}A\r\x1b[J`
    this.#live = live
    this.#stream.write(erase + permanentText + live)
  }

  #render(tree: RunTree): string {
    const options = { width: this.#columns, color: this.#color, milestones: this.#toolMilestones }
    const live = renderProgress(tree, options)
    const output: LiveText | undefined = this.#output === '' ? undefined : { type: 'output', text: this.#output }
    const liveText = this.#liveText ?? output
    const below = liveText ? renderLiveText(liveText, this.#columns, this.#color).join('') : ''
    return live === '' ? '' : `${live}\n${below}`
  }
}
