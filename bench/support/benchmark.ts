import { loadavg } from 'node:os'
import { machineFacts } from './machine.js'
import type { Row } from './measure.js'
import { type BenchOptions, readOptions } from './options.js'
import { report } from './report.js'

export interface BenchContext extends BenchOptions {
  /** One line on stderr about what takes a while. */
  readonly tell: (line: string) => void
  /** Run in reverse order when the benchmark ends, however it ends. */
  readonly atEnd: (clean: () => unknown) => void
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
}

/** Runs one benchmark as the work of this process, reports it, and leaves nothing behind. */
export async function benchmark(name: string, measure: (context: BenchContext) => Promise<Row[]>): Promise<void> {
  const options = readOptions()
  const machine = machineFacts()
  const cleanings: (() => unknown)[] = []
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
      tell: (line) => process.stderr.write(`› ${line}\n`),
      atEnd: (clean) => cleanings.push(clean),
      signal: interrupt.signal,
    })
    const rows = await Promise.race([measured, interrupted])
    report(
      name,
      {
        ...machine,
        'load at the end': loadavg()
          .map((load) => load.toFixed(2))
          .join(' '),
      },
      options,
      rows,
    )
  } finally {
    for (const clean of cleanings.toReversed()) await clean()
    for (const signal of signals) process.off(signal, onSignal)
  }
}
