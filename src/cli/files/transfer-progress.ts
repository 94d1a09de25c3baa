import { formatBytes } from '../../common/text/format.js'
import { oneLine } from '../rendering/text/sanitize.js'
import { truncateToWidth } from '../rendering/text/display-width.js'

/** A smaller file is there before its progress is read. */
const leastBytes = 8 * 1024 * 1024
const redrawMs = 250
const columnsOfTerminal = 80

/** Shows on a terminal how much of a large file is transferred, in a line that it removes at the end. */
export class TransferProgress implements Disposable {
  readonly #stream: NodeJS.WriteStream
  #shownAt = 0
  #name = ''
  #total: number | undefined
  #bytes = 0

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream
  }

  /** @param total bytes; undefined: unknown */
  begin(name: string, total: number | undefined): void {
    this.#name = oneLine(name)
    this.#total = total
    this.#bytes = 0
  }

  add(bytes: number): void {
    this.#bytes += bytes
    const isLarge = (this.#total ?? this.#bytes) >= leastBytes
    if (!this.#stream.isTTY || !isLarge || performance.now() - this.#shownAt < redrawMs) return
    this.#shownAt = performance.now()
    const of = this.#total === undefined ? '' : ` of ${formatBytes(this.#total)}`
    // One column stays free: some terminals wrap a full line.
    const columns = (this.#stream.columns || columnsOfTerminal) - 1
    const amount = `${formatBytes(this.#bytes)}${of}  `
    this.#stream.write(`\r\u001B[K${truncateToWidth(amount + this.#name, columns)}`)
  }

  [Symbol.dispose](): void {
    if (this.#shownAt > 0) this.#stream.write('\r\u001B[K')
  }
}
