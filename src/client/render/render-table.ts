import { colorsFor } from './colors.js'
import { oneLine } from './neutralise.js'
import { cutToWidth, padEnd, padStart, widthOf } from './width.js'

export interface RenderTableOptions {
  readonly width: number
  readonly color: boolean
  /** The first row names the columns. Default false. */
  readonly header?: boolean
}

const amount = /^[~$<]*\d[\d.,]*\s?(?:%|[a-zA-Z]{1,7})?$/
const leastColumn = 4

/** A small table in a box. Columns of amounts are set to the right; what is too wide is cut. Ends without a line break. */
export function renderTable(rows: readonly (readonly string[])[], options: RenderTableOptions): string {
  const { width, color, header = false } = options
  const { dim, bold } = colorsFor(color)
  const cells = rows.map((row) => row.map(oneLine))
  const places = [...Array(Math.max(0, ...cells.map((row) => row.length))).keys()]
  if (places.length === 0) return ''
  const data = header ? cells.slice(1) : cells
  const toTheRight = places.map((place) => place > 0 && data.every((row) => amount.test(row[place] ?? '0')))
  const widths = fitting(
    places.map((place) => Math.max(1, ...cells.map((row) => widthOf(row[place] ?? '')))),
    width - 3 * places.length - 1,
  )
  const rule = (left: string, middle: string, right: string): string =>
    dim(left + widths.map((columns) => '─'.repeat(columns + 2)).join(middle) + right)
  const line = (row: readonly string[], isHeader: boolean): string => {
    const texts = widths.map((columns, place) => {
      const text = cutToWidth(row[place] ?? '', columns)
      const padded = toTheRight[place] ? padStart(text, columns) : padEnd(text, columns)
      return ` ${isHeader ? bold(padded) : padded} `
    })
    return dim('│') + texts.join(dim('│')) + dim('│')
  }
  const lines = cells.map((row, place) => line(row, header && place === 0))
  if (header) lines.splice(1, 0, rule('├', '┼', '┤'))
  return [rule('┌', '┬', '┐'), ...lines, rule('└', '┴', '┘')].join('\n')
}

/** The widest column gives way first. */
function fitting(wanted: readonly number[], room: number): readonly number[] {
  const widths = [...wanted]
  for (;;) {
    const widest = Math.max(...widths)
    if (widths.reduce((sum, each) => sum + each, 0) <= room || widest <= leastColumn) return widths
    widths[widths.indexOf(widest)] = widest - 1
  }
}
