// `npm run test:unit [-- vitest arguments]`: the unit tests. They need no build, no server and no Docker.
// `--watch` runs them again when a file changes.
import { printCountOnExit, runTests, vitestSelection } from './run-tests.mjs'
import { runNode } from '../run.mjs'
import { setup } from '../setup.mjs'

const selection = vitestSelection(['unit'])

if (selection.includes('--watch')) {
  setup()
  process.exit(await runNode('node_modules/vitest/vitest.mjs', selection))
}
printCountOnExit()
setup()
process.exit(await runTests(selection))
