// The reports of the chaos suite and of the modes, printed after the tests.
import { readLines, withTemporaryFiles } from './report-lines.mjs'

/** The fault of each mode of test/modes, with its name in test/modes/faults.ts. */
const faultOf = {
  'always-replay': ['uncachedWorkers', 'workers without a workflow cache'],
  'always-evict': ['sandboxesDestroyed', 'sandboxes destroyed'],
  'always-reattach': ['connectionsDropped', 'connections dropped'],
}

export const modes = Object.keys(faultOf)

/** Faults of test/chaos/support/chaos-run.ts besides the failpoints. */
const disturbances = ['kill-container', 'kill-worker', 'freeze-worker']

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

/** Prints the report and returns a line for each mode that ran without a fault. */
function printModesReport(file) {
  const files = readLines(file)
  return Object.entries(faultOf).flatMap(([mode, [fault, words]]) => {
    const ran = files.filter((each) => each.mode === mode)
    const hit = ran.reduce((sum, each) => sum + each[fault], 0)
    if (ran.length > 0) console.log(`${mode}: ${hit} ${words} in ${ran.length} test files`)
    return ran.length > 0 && hit === 0 ? [`${mode} did nothing, so nothing is proven`] : []
  })
}

/** Prints the report, and returns the faults that no run had. */
async function printChaosReport(file) {
  const runs = readLines(file)
  if (runs.length === 0) return []
  const sum = (key) => runs.reduce((total, run) => total + run[key], 0)
  const faults = count(runs.flatMap((run) => run.faults.map((fault) => fault.split('#')[0])))
  const seeds = runs.flatMap(({ seed }) => (seed === undefined ? [] : [seed])).sort((one, other) => one - other)
  const recoveries = runs.flatMap((run) => run.recoveriesMs).sort((one, other) => one - other)
  console.log(`
chaos report
  runs         ${runs.length}
  seeds        ${seeds.length === 0 ? 'none' : `${seeds[0]} to ${seeds.at(-1)} (${seeds.length})`}
  faults hit   ${[...faults].map(([name, times]) => `${name} ${times}`).join(', ') || 'none'}
  effects      ${sum('effects')}
  duplicates   ${sum('duplicates')}
  lost         ${sum('lost')}
  leaks        ${sum('leaks')}
  recovery     p50 ${seconds(quantile(recoveries, 0.5))}, p99 ${seconds(quantile(recoveries, 0.99))}, over ${recoveries.length} kills of a worker: from kill -9 to the next effect
`)
  const { failpoints } = await import('../../../dist/common/failpoint.js')
  return [...failpoints, ...disturbances].filter((fault) => !faults.has(fault))
}

function count(names) {
  const counts = new Map()
  for (const name of names.sort()) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

function seconds(milliseconds) {
  return milliseconds === undefined ? 'unknown' : `${(milliseconds / 1_000).toFixed(1)} s`
}
