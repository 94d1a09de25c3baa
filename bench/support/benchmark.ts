import { loadavg } from 'node:os'
import { machineFacts } from './machine.js'
import type { ResultRow } from './measure.js'
import { type BenchOptions, readOptions } from './options.js'
import { report } from './report.js'
import { writeResults } from './results-page.js'

export interface BenchContext extends BenchOptions {
  /** Prints a line about a slow step to stderr. */
  readonly progress: (line: string) => void
  /** Registers a callback for the end of the benchmark. Callbacks run in reverse order, also after a failure. */
  readonly defer: (clean: () => unknown) => void
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal
}

/** Runs one benchmark in this process, prints its report, writes it into the page of results, and cleans up. */
export async function benchmark(name: string, measure: (context: BenchContext) => Promise<ResultRow[]>): Promise<void> {
  const options = readOptions()
  const machine = machineFacts()
  const cleanups: (() => unknown)[] = []
  const interrupt = new AbortController()
  const onSignal = (): void => interrupt.abort(new Error('interrupted'))
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.once(signal, onSignal)
  const interrupted = new Promise<never>((_, reject) => {
    interrupt.signal.addEventListener('abort', () => reject(interrupt.signal.reason as Error))
  })
  try {
    const measured = measure({
      ...options,
      progress: (line) => process.stderr.write(`› ${line}\n`),
      defer: (cleanup) => cleanups.push(cleanup),
      signal: interrupt.signal,
    })
    const rows = await Promise.race([measured, interrupted])
    const load = loadavg().map((minutes) => minutes.toFixed(2))
    const facts = { ...machine, 'load at the end': load.join(' ') }
    report(name, facts, options, rows)
    if (!options.json) await writeResults(name, facts, options, rows)
  } finally {
    for (const cleanup of cleanups.toReversed()) await cleanup()
    for (const signal of signals) process.off(signal, onSignal)
  }
}
