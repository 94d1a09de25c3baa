import { appendFileSync } from 'node:fs'
import { afterAll, inject } from 'vitest'

/** What the mode of this process has done so far. */
export const faults = {
  /** Workers that forget every workflow. */
  uncachedWorkers: 0,
  sandboxesDestroyed: 0,
  connectionsDropped: 0,
}

/** At the end of each test file, for the report of `npm run test:modes`. */
export function reportFaults(): void {
  afterAll(() => {
    const report = process.env['PTC_MODES_REPORT']
    if (report !== undefined) appendFileSync(report, `${JSON.stringify({ mode: inject('mode'), ...faults })}\n`)
  })
}
