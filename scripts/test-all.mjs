// `npm run test:all [-- vitest arguments]`: every test, and the reports of the chaos suite and of the modes.
// It takes more than an hour.
import { build } from './build.mjs'
import { modes } from './modes-report.mjs'
import { choiceOf, endWithCount, runTests } from './run-tests.mjs'
import { setup } from './setup.mjs'
import { withReports } from './suite-reports.mjs'

const isAll = process.argv.length === 2
const projects = ['unit', 'integration', 'attacks', 'chaos', 'long', ...modes]

endWithCount()
setup()
await build()
await build('chaos')
process.exit(await withReports(isAll, (tell) => runTests(choiceOf(projects), { tell })))
