// `npm test [-- vitest arguments]`: install, build, run unit and integration tests; `npm run test:all` runs every test.
import { build } from './build.mjs'
import { choiceOf, endWithCount, runTests } from './run-tests.mjs'
import { setup } from './setup.mjs'

endWithCount()
setup()
await build()
await build('chaos')
process.exit(await runTests(choiceOf(['unit', 'integration'])))
