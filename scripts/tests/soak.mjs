// `npm run test:soak [-- --minutes 15 --runs 200 --at-once 10 --hosts 3 --workers 4 --fault-seconds 4 --seed N]`: many
// runs while hosts, links, workers and servers come and go. After `--minutes` no run is started. The report is
// soak/soak.html and soak/soak.json. The same options and seed give the same faults. The suites run a short form of
// test/chaos/soak without this script.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from '../build.mjs'
import { progress, root, setup, stop } from '../setup.mjs'
import { printCountOnExit, runTests, vitestSelection } from './run-tests.mjs'

/** The sizes of the long form: they fit two processors. */
const defaults = {
  minutes: 15,
  runs: 200,
  'at-once': 10,
  hosts: 3,
  workers: 4,
  'fault-seconds': 4,
  seed: Date.now() % 1e6,
}

const options = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: 'string' }]))
let given
try {
  given = Object.entries(parseArgs({ options }).values)
} catch (thrown) {
  stop(thrown.message)
}
const settings = { ...defaults, ...Object.fromEntries(given.map(([name, text]) => [name, Number(text)])) }
for (const [name, value] of Object.entries(settings)) {
  if (!(value > 0)) stop(`--${name} must be a positive number.`)
  process.env[`PTC_SOAK_${name.replaceAll('-', '_').toUpperCase()}`] = String(value)
}
process.env.PTC_SOAK_FORM = 'long'
const folder = join(root, 'soak')
rmSync(folder, { recursive: true, force: true })
process.env.PTC_SOAK_REPORT = folder

printCountOnExit()
setup()
await build()
const code = await runTests(vitestSelection(['chaos'], ['test/chaos/soak']))
progress(`report: ${join(folder, 'soak.html')}`)
process.exit(code)
