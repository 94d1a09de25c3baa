import { fileURLToPath } from 'node:url'
import { defaultLimits } from '../../../dist/common/run/limits.js'
import type { SandboxBackend } from '../../../dist/sandbox/backend.js'
import { createDockerBackend } from '../../../dist/sandbox/docker/index.js'
import { compareTests, type ModuleRun } from '../compare.js'
import { type Place, runInRunner } from '../run.js'
import { readTests, type Test262Test } from './read-tests.js'

const place: Place = { language: 'javascript', limits: { ...defaultLimits, cellSeconds: 30 } }

/** One test of so many. */
const every = Number(process.env['PTC_COMPARE_EVERY'] ?? 200)

/** Kinds of sandboxes that run JavaScript, each with a list of its own. */
const backends: Readonly<Record<string, () => SandboxBackend>> = {
  docker: () => createDockerBackend(),
}

// Runs a sample of test262, the tests of the ECMAScript standard, as cells. PTC_TEST262 is a checkout of
// https://github.com/tc39/test262; no package registry has it. Arguments: a kind of sandbox, then modules.
const [kind = 'docker', ...named] = process.argv.slice(2)
const folder = process.env['PTC_TEST262']
const makeBackend = backends[kind]
if (folder === undefined || makeBackend === undefined)
  throw new Error(`usage: PTC_TEST262=FOLDER compare.ts [${Object.keys(backends).join('|')}] [MODULE …]`)
const backend = makeBackend()
const isAsExpected = await compareTests({
  plain: 'ECMAScript',
  expectedFile: fileURLToPath(new URL(`expected-differences-${kind}.txt`, import.meta.url)),
  modules: named.length > 0 ? named : ['language', 'built-ins'],
  // The standard says how each test ends.
  runPlain: (module) =>
    Promise.resolve({ outcomes: all(readTests(folder, module, every), () => 'pass'), problems: '' }),
  runInRunner: (module) => runTests(readTests(folder, module, every)),
})
await backend.close()
process.exit(isAsExpected ? 0 : 1)

async function runTests(tests: readonly Test262Test[]): Promise<ModuleRun> {
  const outcomes: Record<string, string> = {}
  const problems: string[] = []
  for (const test of tests) {
    const { ended, text } = await runInRunner(backend, place, [test.prelude, test.source])
    const hasCompleted = test.completion === undefined ? ended === 'completed' : text.includes(test.completion)
    const hasFailed = ended === 'failed code_error' && text.includes(test.error ?? '')
    const hasPassed = test.error === undefined ? hasCompleted : hasFailed
    outcomes[test.name] = hasPassed ? 'pass' : 'fail'
    if (!hasPassed) problems.push(`${test.name} (${ended})\n${text.slice(-1_000)}`)
  }
  return { outcomes, problems: problems.join('\n\n') }
}

function all(tests: readonly Test262Test[], outcome: () => string): Readonly<Record<string, string>> {
  return Object.fromEntries(tests.map(({ name }) => [name, outcome()]))
}
