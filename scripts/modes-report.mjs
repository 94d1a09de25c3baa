// What the modes of test/modes did, from the lines that their test files wrote.
import { readLines } from './report-lines.mjs'

/** What each mode does, by the names of test/modes/faults.ts. */
const faultOf = {
  'always-replay': ['forgetfulWorkers', 'workers that remember nothing'],
  'always-evict': ['sandboxesDestroyed', 'sandboxes destroyed'],
  'always-reattach': ['connectionsDropped', 'connections dropped'],
}

export const modes = Object.keys(faultOf)

/** Prints it; gives a line for each mode that ran and did nothing. */
export function tellModes(file) {
  const files = readLines(file)
  return Object.entries(faultOf).flatMap(([mode, [fault, words]]) => {
    const ran = files.filter((each) => each.mode === mode)
    const hit = ran.reduce((sum, each) => sum + each[fault], 0)
    if (ran.length > 0) console.log(`${mode}: ${hit} ${words} in ${ran.length} test files`)
    return ran.length > 0 && hit === 0 ? [`${mode} did nothing, so nothing is proven`] : []
  })
}
