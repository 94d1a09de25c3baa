// `npm run test:modes [-- vitest arguments]`: the functional suite in three harder worlds; then what was done to it in each.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from './build.mjs'
import { runTests } from './run-tests.mjs'
import { setup } from './setup.mjs'

/** What each mode does, by the names of test/modes/faults.ts. */
const faultOf = {
  'always-replay': ['forgetfulWorkers', 'workers that remember nothing'],
  'always-evict': ['sandboxesDestroyed', 'sandboxes destroyed'],
  'always-reattach': ['connectionsDropped', 'connections dropped'],
}

setup()
await build()
const folder = mkdtempSync(join(tmpdir(), 'ptc-modes-report-'))
const file = join(folder, 'files.jsonl')
process.env.PTC_MODES_REPORT = file
const wanted = process.argv.slice(2)
const projects = Object.keys(faultOf).flatMap((name) => ['--project', name])
let harmless = []
const code = runTests([...(wanted.includes('--project') ? [] : projects), ...wanted], () => (harmless = tell()))
rmSync(folder, { recursive: true, force: true })
if (harmless.length > 0) console.error(`durable-ptc: ${harmless.join(' and ')} did nothing, so nothing is proven`)
process.exit(harmless.length > 0 ? 1 : code)

/** Gives the modes that ran without a fault. */
function tell() {
  const files = existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : []
  return Object.entries(faultOf).flatMap(([mode, [fault, words]]) => {
    const ran = files.filter((each) => each.mode === mode)
    const hit = ran.reduce((sum, each) => sum + each[fault], 0)
    if (ran.length > 0) console.log(`${mode}: ${hit} ${words} in ${ran.length} test files`)
    return ran.length > 0 && hit === 0 ? [mode] : []
  })
}
