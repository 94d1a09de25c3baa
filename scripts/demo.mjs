// `npm run demo`: builds, and asks the question of examples/team-expenses with `ptc run`. Needs only Node.
import { join } from 'node:path'
import { build } from './build.mjs'
import { runNode } from './run.mjs'
import { root, setup } from './setup.mjs'

setup()
await build()
const { createJiti } = await import('jiti')
const example = join(root, 'examples/team-expenses')
const { question } = await createJiti(example).import(join(example, 'question.ts'))
// `ptc run` starts no worker for a configured server, so the demo starts a development server.
for (const name of Object.keys(process.env)) if (name.startsWith('TEMPORAL_')) delete process.env[name]
process.env.TEMPORAL_CONFIG_FILE = join(example, 'no-temporal.toml')
process.chdir(example)
process.exit(await runNode('dist/cli/main.js', ['run', question, ...process.argv.slice(2)]))
