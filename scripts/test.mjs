// `npm test [-- vitest arguments]`: install, build, run everything that takes minutes.
import { build } from './build.mjs'
import { runTests } from './run-tests.mjs'
import { setup } from './setup.mjs'

const projects = ['unit', 'integration']

setup()
await build()
await build('chaos')
const wanted = process.argv.slice(2)
const choice = wanted.some((word) => word.startsWith('--project'))
  ? []
  : projects.flatMap((name) => ['--project', name])
process.exit(runTests([...choice, ...wanted]))
