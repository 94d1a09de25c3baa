// The reports of the chaos suite and of the modes, which come after the tests.
import { tellChaos } from './chaos-report.mjs'
import { tellModes } from './modes-report.mjs'
import { withFiles } from './report-lines.mjs'

/**
 * Calls `work` with a function that prints the reports and returns what they miss. A run of only some of the tests
 * can't meet every fault.
 */
export function withReports(isAll, work) {
  return withFiles((file) => {
    process.env.PTC_CHAOS_REPORT = file('chaos')
    process.env.PTC_MODES_REPORT = file('modes')
    return work(async () => {
      const harmless = tellModes(file('modes'))
      const missed = await tellChaos(file('chaos'))
      return [...harmless, ...(isAll ? missed.map((fault) => `no run has met ${fault}`) : [])]
    })
  })
}
