// Summarizes the runs of test/chaos/support/chaos-run.ts.
import { readLines } from './report-lines.mjs'

const disturbances = ['kill-container', 'kill-worker', 'freeze-worker']

/** Prints the report, and returns the faults that no run had. */
export async function printChaosReport(file) {
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
