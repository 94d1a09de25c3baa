import type { RunTree } from '../history/index.js'
import { colorsFor } from './colors.js'
import { printLine } from './line.js'
import { milestones, unservedMilestones } from './milestones.js'
import { renderProgress } from './render-progress.js'

/** What is written to: `process.stderr`, for one. */
export interface ProgressStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

export interface ProgressWriterOptions {
  readonly stream: ProgressStream
  readonly color: boolean
  /** `live`: where the run is, and of what stays only the queues without a worker. Default: everything. */
  readonly shows?: 'everything' | 'live' | undefined
}

const redrawMs = 250
const columnsOfFiles = 80

/**
 * Follows a run on a stream. What has happened is printed once and stays; on a terminal, where the run is stands below it and
 * is redrawn in place. Elsewhere there is no such thing, and every milestone has its line.
 */
export class ProgressWriter {
  readonly #stream: ProgressStream
  readonly #color: boolean
  readonly #shows: NonNullable<ProgressWriterOptions['shows']>
  readonly #printed = new Set<string>()
  readonly #timer: NodeJS.Timeout | undefined
  #tree: RunTree | undefined
  #live = ''
  #closed = false

  constructor({ stream, color, shows = 'everything' }: ProgressWriterOptions) {
    this.#stream = stream
    this.#color = color
    this.#shows = shows
    // Time passes on the live line between two events.
    this.#timer = stream.isTTY ? setInterval(() => this.#draw(''), redrawMs).unref() : undefined
  }

  /** The run as it is now. */
  update(tree: RunTree): void {
    this.#tree = tree
    const columns = this.#columns
    const colors = colorsFor(this.#color)
    const due = (this.#shows === 'live' ? unservedMilestones(tree, columns) : milestones(tree, columns)).filter(
      ({ key, passing }) => !this.#printed.has(key) && !(passing && this.#stream.isTTY),
    )
    for (const { key } of due) this.#printed.add(key)
    this.#draw(due.flatMap(({ lines }) => lines().map((line) => `${printLine(line, columns, colors)}\n`)).join(''))
  }

  /** A line of somebody else's, above the live ones. */
  print(line: string): void {
    this.#draw(`${line}\n`)
  }

  /** Takes the live lines away. Idempotent. */
  close(): void {
    clearInterval(this.#timer)
    this.#tree = undefined
    this.#draw('')
    this.#closed = true
  }

  get #columns(): number {
    return this.#stream.columns || columnsOfFiles
  }

  /** Prints what stays, with the live lines below it. In one write, so that nothing flickers. */
  #draw(staying: string): void {
    if (this.#closed) return
    const live = this.#stream.isTTY && this.#tree ? this.#render(this.#tree) : ''
    if (staying === '' && live === this.#live) return
    const up = this.#live.split('\n').length - 1
    const erase = up === 0 ? '' : `\x1b[${up}A\r\x1b[J`
    this.#live = live
    this.#stream.write(erase + staying + live)
  }

  #render(tree: RunTree): string {
    const live = renderProgress(tree, { width: this.#columns, color: this.#color })
    return live === '' ? '' : `${live}\n`
  }
}
