import { createColors } from '../text/colors.js'
import { oneLine } from '../text/sanitize.js'
import { truncateToWidth, padEnd, padStart, displayWidth } from '../text/display-width.js'

interface BoxTableOptions {
  readonly width: number
  readonly color: boolean
  /** The first row has the names of the columns. Default false. */
  readonly header?: boolean
}

const numericCell = /^[~$<]*\d[\d.,]*\s?(?:%|[a-zA-Z]{1,7})?$/
const minColumnWidth = 4

/**
 * A small table in a box. Columns of amounts are aligned to the right; wide cells are truncated. No line break at the
 * end.
 */
export function renderBoxTable(rows: readonly (readonly string[])[], options: BoxTableOptions): string {
  const { width, color, header = false } = options
  const { dim, bold } = createColors(color)
  const cells = rows.map((row) => row.map(oneLine))
  const columnIndexes = [...Array(Math.max(0, ...cells.map((row) => row.length))).keys()]
  if (columnIndexes.length === 0) return ''
  const data = header ? cells.slice(1) : cells
  const isRightAligned = columnIndexes.map(
    (index) => index > 0 && data.every((row) => numericCell.test(row[index] ?? '0')),
  )
  const widths = fitWidths(
    columnIndexes.map((index) => Math.max(1, ...cells.map((row) => displayWidth(row[index] ?? '')))),
    width - 3 * columnIndexes.length - 1,
  )
  const rule = (left: string, middle: string, right: string): string =>
    dim(left + widths.map((columns) => '─'.repeat(columns + 2)).join(middle) + right)
  const line = (row: readonly string[], isHeader: boolean): string => {
    const texts = widths.map((columns, index) => {
      const text = truncateToWidth(row[index] ?? '', columns)
      const padded = isRightAligned[index] ? padStart(text, columns) : padEnd(text, columns)
      return ` ${isHeader ? bold(padded) : padded} `
    })
    return dim('│') + texts.join(dim('│')) + dim('│')
  }
  const lines = cells.map((row, index) => line(row, header && index === 0))
  if (header) lines.splice(1, 0, rule('├', '┼', '┤'))
  return [rule('┌', '┬', '┐'), ...lines, rule('└', '┴', '┘')].join('\n')
}

/** Narrows the widest column first. */
function fitWidths(naturalWidths: readonly number[], available: number): readonly number[] {
  const widths = [...naturalWidths]
  for (;;) {
    const widest = Math.max(...widths)
    if (widths.reduce((sum, each) => sum + each, 0) <= available || widest <= minColumnWidth) return widths
    widths[widths.indexOf(widest)] = widest - 1
  }
}
