// `npm run test:chaos [-- vitest arguments]`: everything is killed, everywhere, and the functional suite runs in harder worlds; then a report of all runs together.
// PTC_CHAOS_SEED and PTC_CHAOS_RUNS choose the random runs; one seed repeats one run: PTC_CHAOS_SEED=7 PTC_CHAOS_RUNS=1 npm run test:chaos -- random
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from './build.mjs'
import { runTests } from './run-tests.mjs'
import { setup } from './setup.mjs'

const projects = ['chaos', 'always-replay', 'always-evict', 'always-reattach']

setup()
await build()
await build('chaos')
const folder = mkdtempSync(join(tmpdir(), 'ptc-chaos-report-'))
const file = join(folder, 'runs.jsonl')
process.env.PTC_CHAOS_REPORT = file
const wanted = process.argv.slice(2)
const choice = wanted.some((word) => word.startsWith('--project'))
  ? []
  : projects.flatMap((name) => ['--project', name])
const code = runTests([...choice, ...wanted], () => tell(file))
rmSync(folder, { recursive: true, force: true })
process.exit(code)

/** Before the last line, which is the count of tests. */
function tell(path) {
  if (!existsSync(path)) return
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  const runs = lines.map((line) => JSON.parse(line))
  const sum = (key) => runs.reduce((total, run) => total + run[key], 0)
  const faults = count(runs.flatMap((run) => run.faults.map((fault) => fault.split('#')[0])))
  const seeds = runs.flatMap(({ seed }) => (seed === undefined ? [] : [seed])).sort((one, other) => one - other)
  const recoveries = runs.flatMap((run) => run.recoveriesMs).sort((one, other) => one - other)
  console.log(`
chaos report
  runs         ${runs.length}
  seeds        ${seeds.length === 0 ? 'none' : `${seeds[0]} to ${seeds.at(-1)} (${seeds.length})`}
  faults hit   ${faults.map(([name, times]) => `${name} ${times}`).join(', ') || 'none'}
  effects      ${sum('effects')}
  duplicates   ${sum('duplicates')}
  lost         ${sum('lost')}
  leaks        ${sum('leaks')}
  recovery     p50 ${seconds(quantile(recoveries, 0.5))}, p99 ${seconds(quantile(recoveries, 0.99))} (${recoveries.length} deaths; from kill -9 to the next thing the world is asked)
`)
}

function count(names) {
  const counts = new Map()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].sort(([one], [other]) => one.localeCompare(other))
}

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

function seconds(milliseconds) {
  return milliseconds === undefined ? 'unknown' : `${(milliseconds / 1_000).toFixed(1)} s`
}
