import { parseArgs } from 'node:util'

/** What the command line of every benchmark says; scripts/bench.mjs passes it on. */
export interface BenchOptions {
  /** Repetitions, each measuring everything once, in alternating order. */
  readonly runs: number
  /** Tool calls of one measured program. */
  readonly calls: number
  /** One JSON object on stdout instead of a table. */
  readonly json: boolean
}

/** Ends the process with one line about an option that is unknown or makes no sense. */
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
