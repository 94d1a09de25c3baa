// Summarizes the faults that the modes of test/modes injected, from the lines of their test files.
import { readLines } from './report-lines.mjs'

/** The fault of each mode, with its name in test/modes/faults.ts. */
const faultOf = {
  'always-replay': ['uncachedWorkers', 'workers without a workflow cache'],
  'always-evict': ['sandboxesDestroyed', 'sandboxes destroyed'],
  'always-reattach': ['connectionsDropped', 'connections dropped'],
}

export const modes = Object.keys(faultOf)

/** Prints the report and returns a line for each mode that ran without a fault. */
export function printModesReport(file) {
  const files = readLines(file)
  return Object.entries(faultOf).flatMap(([mode, [fault, words]]) => {
    const ran = files.filter((each) => each.mode === mode)
    const hit = ran.reduce((sum, each) => sum + each[fault], 0)
    if (ran.length > 0) console.log(`${mode}: ${hit} ${words} in ${ran.length} test files`)
    return ran.length > 0 && hit === 0 ? [`${mode} did nothing, so nothing is proven`] : []
  })
}
