// `npm run test:modes [-- vitest arguments]`: runs the functional suite in three modes and prints the injected faults.
import { build } from '../build.mjs'
import { modes } from './reports/modes-report.mjs'
import { vitestSelection, printCountOnExit, runTests } from './run-tests.mjs'
import { setup } from '../setup.mjs'
import { withReports } from './reports/suite-reports.mjs'

printCountOnExit()
setup()
await build()
process.exit(await withReports(false, (printReports) => runTests(vitestSelection(modes), { printReports })))
