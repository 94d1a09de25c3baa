// `npm run demo`: the whole thing on a machine that has nothing but Node.
import { build } from './build.mjs'
import { runNode } from './run.mjs'
import { setup } from './setup.mjs'

setup()
await build()
process.exit(await runNode('dist/client/cli/main.js', ['demo', ...process.argv.slice(2)]))
