// `npm run test:chaos [-- vitest arguments]`: everything is killed, everywhere, and the functional suite runs in harder
// worlds; then a report of all of it.
// PTC_CHAOS_SEED and PTC_CHAOS_RUNS choose the random runs; one seed repeats one run:
// PTC_CHAOS_SEED=7 PTC_CHAOS_RUNS=1 npm run test:chaos -- random
import { build } from './build.mjs'
import { modes } from './modes-report.mjs'
import { choiceOf, endWithCount, runTests } from './run-tests.mjs'
import { setup } from './setup.mjs'
import { withReports } from './suite-reports.mjs'

const isAll = process.argv.length === 2

endWithCount()
setup()
await build()
await build('chaos')
process.exit(await withReports(isAll, (tell) => runTests(choiceOf(['chaos', 'long', ...modes]), { tell })))
