// `npm test`, `npm run test:NAME [-- vitest arguments]`: runs a suite and prints its reports. Unit tests need no build,
// no server and no Docker; `--watch` runs them again when a file changes. PTC_CHAOS_SEED and PTC_CHAOS_RUNS choose the
// random runs. One seed repeats one run: PTC_CHAOS_SEED=7 PTC_CHAOS_RUNS=1 npm run test:chaos -- random
import { build } from '../build.mjs'
import { runNode } from '../run.mjs'
import { setup } from '../setup.mjs'
import { modes, withReports } from './reports/suite-reports.mjs'
import { printCountOnExit, runTests, vitestSelection } from './run-tests.mjs'

/** The projects of vitest.config.ts in each suite. */
const suites = {
  main: ['unit', 'integration'],
  unit: ['unit'],
  attacks: ['attacks'],
  chaos: ['chaos', 'slow', ...modes],
  modes,
  live: ['live'],
  all: ['unit', 'integration', 'attacks', 'chaos', 'slow', ...modes],
}

const [suite, ...wanted] = process.argv.slice(2)
const selection = vitestSelection(suites[suite], wanted)

if (suite === 'unit' && wanted.includes('--watch')) {
  setup()
  process.exit(await runNode('node_modules/vitest/vitest.mjs', selection))
}
printCountOnExit()
setup()
if (suite !== 'unit') await build()
const hasEveryFault = wanted.length === 0 && suites[suite].includes('chaos')
process.exit(await withReports(hasEveryFault, (printReports) => runTests(selection, { printReports })))
