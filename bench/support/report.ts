import { isMet, rounded, type ResultRow, summarize, targetOf } from './measure.js'
import type { BenchOptions } from './options.js'

/** Prints the results to stdout: a table, or one JSON object on one line. */
export function report(
  name: string,
  machine: Readonly<Record<string, string>>,
  options: BenchOptions,
  rows: readonly ResultRow[],
): void {
  if (options.json) {
    const { runs, calls } = options
    const results = rows.map((row) => ({ ...row, ...summarize(row.samples) }))
    process.stdout.write(`${JSON.stringify({ benchmark: name, machine, runs, calls, results })}\n`)
    return
  }
  const lines = rows.map((row) => [row.name, ...numberTexts(row), targetText(row)])
  const width = Math.max(...rows.map(({ name: what }) => what.length))
  const header = ['', 'min', 'median', 'max', 'target'].map((title, column) => pad(title, column, width)).join('  ')
  const table = lines.map((cells) =>
    cells
      .map((cell, column) => pad(cell, column, width))
      .join('  ')
      .trimEnd(),
  )
  const facts = Object.entries(machine).map(([fact, value]) => `  ${fact}: ${value}`)
  process.stdout.write(`\n${name}\n${facts.join('\n')}\n\n${header.trimEnd()}\n${table.join('\n')}\n`)
}

/** Minimum, median and maximum, with the unit. */
export function numberTexts({ unit, samples }: ResultRow): readonly string[] {
  const { min, median, max } = summarize(samples)
  return [min, median, max].map((value) => `${rounded(value, unit)} ${unit}`)
}

/** The target and whether it is met; empty without a target. */
export function targetText(row: ResultRow): string {
  const target = targetOf(row)
  if (target === undefined) return ''
  const verdict = isMet(row) ? 'met' : 'MISSED'
  return `${target.comparison} ${target.value} ${row.unit}: ${verdict}`
}

function pad(cell: string, column: number, width: number): string {
  if (column === 0) return cell.padEnd(width)
  return column < 4 ? cell.padStart(12) : cell
}
