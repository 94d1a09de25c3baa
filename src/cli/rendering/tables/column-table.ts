import { truncateToWidth, padEnd, displayWidth } from '../text/display-width.js'

const columnGap = 2

/** Colours the text of a cell, after the layout. */
export type StyleCell = (text: string, row: number, column: number) => string

/**
 * Rows with aligned columns, one per line; the first row is the heading.
 *
 * @param width columns of the terminal; undefined: unlimited. If the rows are too wide, columns are narrowed from the
 *   last to the second, down to the width of their headings; then the last columns are dropped. The first column, which
 *   has a name to type, is narrowed last.
 */
export function renderColumns(
  rows: readonly (readonly string[])[],
  width: number | undefined,
  styleCell: StyleCell = (text) => text,
): string {
  const widths = naturalWidths(rows)
  const columnWidths = width === undefined ? widths : fitWidths(widths, rows[0] ?? [], width)
  return rows
    .map((row) =>
      row
        .slice(0, columnWidths.length)
        .map((cell, column) => formatCell(cell, columnWidths[column], column < row.length - 1)),
    )
    .map((row, rowIndex) => {
      const line = row.join(' '.repeat(columnGap)).trimEnd()
      if (width !== undefined && displayWidth(line) > width) return truncateToWidth(line, width)
      return row
        .map((cell, column) => styleCell(cell, rowIndex, column))
        .join(' '.repeat(columnGap))
        .trimEnd()
    })
    .join('\n')
}

function naturalWidths(rows: readonly (readonly string[])[]): readonly number[] {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  return Array.from({ length: columns }, (_, column) => Math.max(...rows.map((row) => displayWidth(row[column] ?? ''))))
}

function formatCell(cell: string, width = 0, isPadded: boolean): string {
  const text = truncateToWidth(cell, width)
  return isPadded ? padEnd(text, width) : text
}

function fitWidths(widths: readonly number[], heading: readonly string[], available: number): readonly number[] {
  const fitted = [...widths]
  const excess = () => fitted.reduce((sum, each) => sum + each + columnGap, -columnGap) - available
  for (let column = fitted.length - 1; column > 0; column -= 1) {
    const least = displayWidth(heading[column] ?? '')
    fitted[column] = Math.max(least, (fitted[column] ?? 0) - Math.max(0, excess()))
  }
  while (fitted.length > 1 && excess() > 0) fitted.pop()
  return fitted
}
