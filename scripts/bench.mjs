// `npm run bench [-- name …]`: runs bench/<name>.bench.ts one after the other, each in a fresh process; all unless named.
// Against the built package, as users run it; jiti only loads the benchmark itself.
import { join } from 'node:path'
import { build } from './build.mjs'
import { runNode } from './run.mjs'
import { progress, root, setup, stop } from './setup.mjs'
import { filesUnder } from './sources.mjs'

const suffix = '.bench.ts'

setup()
await build()

const all = filesUnder(join(root, 'bench'))
  .filter((file) => file.endsWith(suffix))
  .map((file) => file.slice(0, -suffix.length))
const wanted = process.argv.slice(2)
if (all.length === 0) stop('there is no benchmark in bench/ yet.')
const unknown = wanted.filter((name) => !all.includes(name))
if (unknown.length > 0) stop(`no benchmark ${unknown.join(', ')}; there are ${all.join(', ')}.`)

let failed = 0
for (const name of wanted.length > 0 ? wanted : all) {
  progress(`bench ${name}`)
  const code = await runNode('node_modules/jiti/lib/jiti-cli.mjs', [join(root, 'bench', name + suffix)])
  if (code !== 0) failed += 1
}
process.exit(failed === 0 ? 0 : 1)
