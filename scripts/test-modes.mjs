// `npm run test:modes [-- vitest arguments]`: the functional suite in three harder worlds; then what was done in each.
import { build } from './build.mjs'
import { modes } from './modes-report.mjs'
import { choiceOf, endWithCount, runTests } from './run-tests.mjs'
import { setup } from './setup.mjs'
import { withReports } from './suite-reports.mjs'

endWithCount()
setup()
await build()
process.exit(await withReports(false, (tell) => runTests(choiceOf(modes), { tell })))
