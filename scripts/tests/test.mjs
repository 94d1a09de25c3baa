// `npm test [-- vitest arguments]`: installs, builds, and runs unit and integration tests. `npm run test:all` runs
// every test.
import { build } from '../build.mjs'
import { vitestSelection, printCountOnExit, runTests } from './run-tests.mjs'
import { setup } from '../setup.mjs'

printCountOnExit()
setup()
await build()
process.exit(await runTests(vitestSelection(['unit', 'integration'])))
