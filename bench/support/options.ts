import { parseArgs } from 'node:util'

/** Options of every benchmark. scripts/bench.mjs passes them on. */
export interface BenchOptions {
  /** Number of repetitions. Each measures everything once, in alternating order. */
  readonly runs: number
  /** Tool calls of one measured program. */
  readonly calls: number
  /** Prints one JSON object instead of a table, and does not write the page of results. */
  readonly json: boolean
}

/** Ends the process with one line about an unknown or invalid option. */
export function readOptions(argv: readonly string[] = process.argv.slice(2)): BenchOptions {
  try {
    return parse(argv)
  } catch (error) {
    process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(2)
  }
}

function parse(argv: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      runs: { type: 'string', default: '7' },
      calls: { type: 'string', default: '100' },
      json: { type: 'boolean', default: false },
    },
  })
  return { runs: count('runs', values.runs), calls: count('calls', values.calls), json: values.json }
}

function count(name: string, text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1 && value <= 1_000) return value
  throw new Error(`--${name} must be a whole number from 1 to 1000, not ${text}`)
}
