import { fileURLToPath } from 'node:url'
import { compareTests, type ModuleRun } from '../compare.js'
import { javascriptCell, openSandboxes } from '../javascript-sandboxes.js'
import { runInRunner } from '../run.js'
import { readTests, type Test262Test } from './read-tests.js'

/** One test of so many. */
const every = Number(process.env['PTC_COMPARE_EVERY'] ?? 200)

// Runs a sample of test262, the tests of the ECMAScript standard, as cells. PTC_TEST262 is a checkout of
// https://github.com/tc39/test262; no package registry has it. Arguments: a kind of sandbox, then modules.
const [kind = 'docker', ...named] = process.argv.slice(2)
const usage = 'PTC_TEST262=FOLDER compare.ts'
const folder = process.env['PTC_TEST262']
if (folder === undefined) throw new Error(`usage: ${usage}`)
const backend = openSandboxes(kind, usage)
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
    const { ended, text } = await runInRunner(backend, javascriptCell, [test.prelude, test.source])
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
