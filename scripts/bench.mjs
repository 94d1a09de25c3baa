// `npm run bench [-- name … --runs N --calls N --json]`: runs the named benchmarks (default: all), each
// bench/<name>.bench.ts in its own process, which replaces its section of bench/results.md. They use the built package;
// jiti loads only the benchmark.
import { join } from 'node:path'
import { build } from './build.mjs'
import { runNode } from './run.mjs'
import { progress, root, setup, stop } from './setup.mjs'
import { filesUnder } from './sources.mjs'

const suffix = '.bench.ts'

const all = filesUnder(join(root, 'bench'))
  .filter((file) => file.endsWith(suffix))
  .map((file) => file.slice(0, -suffix.length))
// Names come first. The options after them are passed to the benchmarks.
const firstOption = process.argv.findIndex((word, index) => index >= 2 && word.startsWith('-'))
const wanted = process.argv.slice(2, firstOption < 0 ? undefined : firstOption)
const options = firstOption < 0 ? [] : process.argv.slice(firstOption)
const unknown = wanted.filter((name) => !all.includes(name))
if (unknown.length > 0) stop(`no benchmark ${unknown.join(', ')}; there are ${all.join(', ')}.`)

setup()
await build()

let failed = 0
for (const name of wanted.length > 0 ? wanted : all) {
  progress(`bench ${name}`)
  const code = await runNode('node_modules/jiti/lib/jiti-cli.mjs', [join(root, 'bench', name + suffix), ...options])
  if (code !== 0) failed += 1
}
process.exit(failed === 0 ? 0 : 1)
