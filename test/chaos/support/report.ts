import { appendFileSync } from 'node:fs'

/** The result of one run; `npm run test:chaos` prints a summary of all of them. */
export interface RunReport {
  readonly seed?: number
  /** The faults that occurred. */
  readonly faults: readonly string[]
  readonly effects: number
  readonly duplicates: number
  readonly lost: number
  readonly leaks: number
  /** Milliseconds from the death of a worker to the next request to the ledger. */
  readonly recoveriesMs: readonly number[]
  readonly seconds: number
}

/** Adds a line to the file that PTC_CHAOS_REPORT names, if it names one. */
export function appendRunReport(run: RunReport): void {
  const file = process.env['PTC_CHAOS_REPORT']
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(run)}\n`)
}
