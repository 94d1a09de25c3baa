import { appendFileSync } from 'node:fs'

/** What one run has shown; the end report of `npm run test:chaos` is made of these. */
export interface RunReport {
  readonly seed?: number
  /** What struck. */
  readonly faults: readonly string[]
  readonly effects: number
  readonly duplicates: number
  readonly lost: number
  readonly leaks: number
  /** Milliseconds from the death of a worker to the next thing the world was asked. */
  readonly recoveriesMs: readonly number[]
  readonly seconds: number
}

/** Adds a line to the file that PTC_CHAOS_REPORT names, if it names one. */
export function appendRunReport(run: RunReport): void {
  const file = process.env['PTC_CHAOS_REPORT']
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(run)}\n`)
}
