import { appendFileSync } from 'node:fs'
import { afterAll, inject } from 'vitest'

/** Number of faults that the mode of this process has injected. */
export const faults = {
  /** Workers without a workflow cache. */
  uncachedWorkers: 0,
  sandboxesDestroyed: 0,
  connectionsDropped: 0,
}

/** Writes the counts at the end of each test file, for the report of `npm run test:modes`. */
export function reportFaults(): void {
  afterAll(() => {
    const report = process.env['PTC_MODES_REPORT']
    if (report !== undefined) appendFileSync(report, `${JSON.stringify({ mode: inject('mode'), ...faults })}\n`)
  })
}
