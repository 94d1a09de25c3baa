import { cutToWidth, padEnd, widthOf } from '../render/width.js'

const gap = 2

/** Colours the text of a cell; the layout is done then. */
export type Paint = (text: string, row: number, column: number) => string

/**
 * Rows with their columns aligned, one a line; the first row is the heading.
 *
 * @param width columns of the terminal; undefined: lines as long as they are. Where it is too narrow, the columns give way from the
 * last to the second, down to their headings; then the last ones are left out. The first column, a name to be typed, gives way last.
 */
export function table(
  rows: readonly (readonly string[])[],
  width: number | undefined,
  paint: Paint = (text) => text,
): string {
  const widths = widthsOf(rows)
  const shown = width === undefined ? widths : fitting(widths, rows[0] ?? [], width)
  return rows
    .map((row) =>
      row.slice(0, shown.length).map((cell, column) => cellOf(cell, shown[column], column < row.length - 1)),
    )
    .map((row, place) => {
      const line = row.join(' '.repeat(gap)).trimEnd()
      if (width !== undefined && widthOf(line) > width) return cutToWidth(line, width)
      return row
        .map((cell, column) => paint(cell, place, column))
        .join(' '.repeat(gap))
        .trimEnd()
    })
    .join('\n')
}

function widthsOf(rows: readonly (readonly string[])[]): readonly number[] {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  return Array.from({ length: columns }, (_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ''))))
}

function cellOf(cell: string, width = 0, isPadded: boolean): string {
  const text = cutToWidth(cell, width)
  return isPadded ? padEnd(text, width) : text
}

function fitting(widths: readonly number[], heading: readonly string[], room: number): readonly number[] {
  const fitted = [...widths]
  const excess = () => fitted.reduce((sum, each) => sum + each + gap, -gap) - room
  for (let column = fitted.length - 1; column > 0; column -= 1) {
    const least = widthOf(heading[column] ?? '')
    fitted[column] = Math.max(least, (fitted[column] ?? 0) - Math.max(0, excess()))
  }
  while (fitted.length > 1 && excess() > 0) fitted.pop()
  return fitted
}
