// The reports of the chaos suite and of the modes, printed after the tests.
import { printChaosReport } from './chaos-report.mjs'
import { printModesReport } from './modes-report.mjs'
import { withTemporaryFiles } from './report-lines.mjs'

/**
 * Calls `work` with a function that prints the reports and returns the missing faults. A run of only some tests can't
 * have every fault.
 */
export function withReports(isAll, work) {
  return withTemporaryFiles((file) => {
    process.env.PTC_CHAOS_REPORT = file('chaos')
    process.env.PTC_MODES_REPORT = file('modes')
    return work(async () => {
      const harmless = printModesReport(file('modes'))
      const missed = await printChaosReport(file('chaos'))
      return [...harmless, ...(isAll ? missed.map((fault) => `no run has met ${fault}`) : [])]
    })
  })
}
