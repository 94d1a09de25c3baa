// `npm test [-- vitest arguments]`: install, build, run everything that takes minutes; `npm run test:chaos` takes longer.
import { build } from './build.mjs'
import { choiceOf, runTests } from './run-tests.mjs'
import { setup } from './setup.mjs'

setup()
await build()
await build('chaos')
process.exit(await runTests(choiceOf(['unit', 'integration'])))
