// `npm run test:all [-- vitest arguments]`: runs every test and prints the reports of the chaos suite and of the modes.
// Takes more than an hour.
import { build } from '../build.mjs'
import { modes } from './reports/modes-report.mjs'
import { vitestSelection, printCountOnExit, runTests } from './run-tests.mjs'
import { setup } from '../setup.mjs'
import { withReports } from './reports/suite-reports.mjs'

const isAll = process.argv.length === 2
const projects = ['unit', 'integration', 'attacks', 'chaos', 'slow', ...modes]

printCountOnExit()
setup()
await build()
process.exit(await withReports(isAll, (printReports) => runTests(vitestSelection(projects), { printReports })))
