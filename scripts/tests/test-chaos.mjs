// `npm run test:chaos [-- vitest arguments]`: runs the chaos suite, the long tests and the modes, and prints their
// reports. PTC_CHAOS_SEED and PTC_CHAOS_RUNS choose the random runs. One seed repeats one run: PTC_CHAOS_SEED=7
// PTC_CHAOS_RUNS=1 npm run test:chaos -- random
import { build } from '../build.mjs'
import { modes } from './reports/modes-report.mjs'
import { vitestSelection, printCountOnExit, runTests } from './run-tests.mjs'
import { setup } from '../setup.mjs'
import { withReports } from './reports/suite-reports.mjs'

const isAll = process.argv.length === 2

printCountOnExit()
setup()
await build()
process.exit(
  await withReports(isAll, (printReports) => runTests(vitestSelection(['chaos', 'slow', ...modes]), { printReports })),
)
