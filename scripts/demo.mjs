// `npm run demo`: builds and runs the demo. Needs only Node.
import { build } from './build.mjs'
import { runNode } from './run.mjs'
import { setup } from './setup.mjs'

setup()
await build()
process.exit(await runNode('dist/cli/main.js', ['demo', ...process.argv.slice(2)]))
