// `npm run test:live`: one short run for each provider that has a key or an address on this machine.
import { build } from '../build.mjs'
import { printCountOnExit, runTests, vitestSelection } from './run-tests.mjs'
import { setup } from '../setup.mjs'

printCountOnExit()
setup()
await build()
process.exit(await runTests(vitestSelection(['live'])))
