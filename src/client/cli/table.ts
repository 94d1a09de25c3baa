import { cutToWidth, padEnd, widthOf } from '../render/width.js'

/** Rows with their columns aligned, one a line. @param width columns of the terminal; undefined: lines as long as they are */
export function table(rows: readonly (readonly string[])[], width: number | undefined): string {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ''))),
  )
  return rows
    .map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : padEnd(cell, widths[column] ?? 0))))
    .map((row) => row.join('  ').trimEnd())
    .map((line) => (width === undefined ? line : cutToWidth(line, width)))
    .join('\n')
}
