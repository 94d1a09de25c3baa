// `npm run test:modes [-- vitest arguments]`: the functional suite in three harder worlds; then what was done to it in each.
import { build } from './build.mjs'
import { modes, tellModes } from './modes-report.mjs'
import { withFiles } from './report-lines.mjs'
import { choiceOf, runTests } from './run-tests.mjs'
import { setup } from './setup.mjs'

setup()
await build()
process.exit(
  await withFiles((file) => {
    process.env.PTC_MODES_REPORT = file('modes')
    return runTests(choiceOf(modes), () => tellModes(file('modes')))
  }),
)
