import { type ResultRow, summarize, type Unit } from './measure.js'
import type { BenchOptions } from './options.js'

const digits: Readonly<Record<Unit, number>> = { ms: 2, x: 2, events: 1, bytes: 0, MiB: 1, 'MB/s': 0, '/s': 1 }

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
  const lines = rows.map(line)
  const width = Math.max(...rows.map(({ name: what }) => what.length))
  const header = ['', 'min', 'median', 'max', ''].map((title, column) => pad(title, column, width)).join('  ')
  const table = lines.map((cells) =>
    cells
      .map((cell, column) => pad(cell, column, width))
      .join('  ')
      .trimEnd(),
  )
  const facts = Object.entries(machine).map(([fact, value]) => `  ${fact}: ${value}`)
  process.stdout.write(`\n${name}\n${facts.join('\n')}\n\n${header.trimEnd()}\n${table.join('\n')}\n`)
}

function line({ name, unit, samples, target }: ResultRow): string[] {
  const { min, median, max } = summarize(samples)
  const numbers = [min, median, max].map((value) => `${value.toFixed(digits[unit])} ${unit}`)
  const verdict = target === undefined ? '' : `target <= ${target} ${unit}: ${median <= target ? 'met' : 'MISSED'}`
  return [name, ...numbers, verdict]
}

function pad(cell: string, column: number, width: number): string {
  if (column === 0) return cell.padEnd(width)
  return column < 4 ? cell.padStart(12) : cell
}
