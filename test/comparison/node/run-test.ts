import { readFileSync } from 'node:fs'
import { defaultLimits } from '../../../dist/common/run/limits.js'
import type { DockerBackend } from '../../../dist/sandbox/docker/index.js'
import type { ModuleRun } from '../compare.js'
import { timedOut } from '../outcomes.js'
import { type Ended, type Place, runContainer, runInRunner } from '../run.js'

/** Where the image has the tests: `test/` of Node's source. */
const folder = '/opt/node-tests/test/parallel'

/** Limit of one test. */
const testSeconds = 30

const limits = { ...defaultLimits, cellSeconds: testSeconds, memoryBytes: 2 * defaultLimits.memoryBytes }
const cell: Place = { language: 'javascript', limits }
/** One process runs all tests of a module, one after the other. */
const container: Place = {
  ...cell,
  limits: { ...limits, cellSeconds: Number(process.env['PTC_COMPARE_SECONDS'] ?? 900) },
}

const driver = readFileSync(new URL('run-tests.cjs', import.meta.url), 'utf8')

interface PlainTest {
  readonly outcome: string
  readonly source: string
  readonly problem: string
}

/** The tests of a module with plain Node, by the names of their files. */
async function runPlainTests(image: string, module: string): Promise<Readonly<Record<string, PlainTest>>> {
  const { ended, text } = await runContainer(image, container, () => [
    '/usr/bin/node',
    '-e',
    driver,
    folder,
    module,
    String(testSeconds),
  ])
  const result = /RESULT:([A-Za-z0-9+/=]+):END/.exec(text)?.[1]
  if (result === undefined) throw new Error(`the tests of ${module} did not end (${ended}):\n${text.slice(-2_000)}`)
  return JSON.parse(Buffer.from(result, 'base64').toString()) as Readonly<Record<string, PlainTest>>
}

/** Runs modules of Node's tests. The tests of module `timers` are `test-timers.js` and `test-timers-*.js`. */
export class NodeTests {
  readonly #image: string
  readonly #backend: DockerBackend
  /** The tests of the last module. */
  #tests: Readonly<Record<string, PlainTest>> = {}

  constructor(image: string, backend: DockerBackend) {
    this.#image = image
    this.#backend = backend
  }

  async runPlain(module: string): Promise<ModuleRun> {
    this.#tests = await runPlainTests(this.#image, module)
    return runOf(Object.entries(this.#tests).map(([file, { outcome, problem }]) => [file, { outcome, problem }]))
  }

  /** Runs each test of the module as a cell of a new session. */
  async runInRunner(): Promise<ModuleRun> {
    const runs: [string, { outcome: string; problem: string }][] = []
    for (const [file, { source }] of Object.entries(this.#tests)) {
      const ended = await runInRunner(this.#backend, cell, [prelude(file), source, end])
      runs.push([file, { outcome: outcomeOf(ended), problem: ended.text.slice(-1_500) }])
    }
    return runOf(runs)
  }
}

/** What Node gives a file of CommonJS. */
const prelude = (file: string): string => `
Object.assign(process.env, { NODE_TEST_DIR: '/tmp', NODE_TEST_KNOWN_GLOBALS: '0' })
process.argv[1] = globalThis.__filename = ${JSON.stringify(`${folder}/${file}`)}
globalThis.__dirname = ${JSON.stringify(folder)}
globalThis.require = require('node:module').createRequire(__filename)
globalThis.module = { exports: {}, filename: __filename, id: '.' }
globalThis.exports = module.exports
require.main = module
globalThis.atTheEnd = { process, setTimeout } // tests replace them
// A name that a cell declares hides a global in modules, too: before the cell has come to it, it is undefined there.
require('../common')`

/** Lets timers end, and does what the end of a process does: \`common.mustCall\` of a test fails then. */
const end = `
await new Promise((resolve) => atTheEnd.setTimeout(resolve, 60_000))
atTheEnd.process.emit('exit', atTheEnd.process.exitCode ?? 0)
if (atTheEnd.process.exitCode) atTheEnd.process.exit()`

function outcomeOf({ ended, text }: Ended): string {
  if (/^1\.\.0 # Skipped/m.test(text)) return 'skip'
  if (ended === timedOut) return timedOut
  return ended === 'completed' ? 'pass' : 'fail'
}

function runOf(
  tests: readonly (readonly [string, { readonly outcome: string; readonly problem: string }])[],
): ModuleRun {
  const outcomes = Object.fromEntries(tests.map(([file, { outcome }]) => [file, outcome]))
  const problems = tests.flatMap(([file, { outcome, problem }]) =>
    outcome === 'pass' || outcome === 'skip' ? [] : [`${file} (${outcome})\n${problem}`],
  )
  return { outcomes, problems: problems.join('\n\n') }
}
