import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createDockerBackend } from '../../dist/sandbox/docker/index.js'
import { ensureTestImage } from './image.js'
import {
  differencesOf,
  type ExpectedDifference,
  hasTimedOut,
  type Outcomes,
  readExpected,
  staleDifferences,
} from './outcomes.js'
import { allModules, runInRunner, runPlain } from './run-module.js'

/** Tests that depend on the load of the machine differ sometimes: only tests that differ in every attempt count. */
const attempts = 3

// Runs CPython's own tests plain and under the runner, in the same image and with the same limits.
// Arguments: names of modules, such as test_json or test_asyncio.test_locks; default: all.
const image = await ensureTestImage()
const backend = createDockerBackend({ image })
const ownFile = fileURLToPath(new URL('expected-differences.txt', import.meta.url))
const expectedFile = process.env['PTC_COMPARE_EXPECTED'] ?? ownFile
const expected = readExpected(readFileSync(expectedFile, 'utf8'))
const named = process.argv.slice(2)
const modules = named.length > 0 ? named : await allModules(image)

const problems: string[] = []
const total = { tests: 0, plain: 0, runner: 0, different: 0, asExpected: 0, uncertain: 0 }
for (const [place, module] of modules.entries()) {
  const known = expected.filter((one) => one.module === module)
  const { plain, runner, alwaysDifferent: always, everDifferent: ever } = await compare(module, known)
  if (hasTimedOut(plain)) {
    console.log(`[${place + 1}/${modules.length}] ${module}: plain Python does not end in time, so nothing is compared`)
    continue
  }
  const unknown = [...always].filter(([test]) => !known.some((one) => one.test === test))
  const gone = staleDifferences(known, ever)
  total.tests += Object.keys(plain).length
  total.plain += passed(plain)
  total.runner += passed(runner)
  total.different += always.size
  total.asExpected += always.size - unknown.length
  total.uncertain += ever.size - always.size
  const counts = `${passed(plain)} pass plain, ${passed(runner)} under the runner, ${always.size} differ`
  console.log(`[${place + 1}/${modules.length}] ${module}: ${Object.keys(plain).length} tests, ${counts}`)
  for (const [test, difference] of unknown) problems.push(`${module} ${test}: ${difference}`)
  for (const { test } of gone)
    problems.push(`${module} ${test}: no longer differs, remove it from expected-differences.txt`)
}
await backend.close()

for (const problem of problems) console.log(`FAILED ${problem}`)
console.log(
  `${modules.length} modules, ${total.tests} tests: ${total.plain} pass with plain Python, ${total.runner} under the runner; ` +
    `${total.different} differ, ${total.asExpected} of them as expected; ${total.uncertain} differed only in some attempts`,
)
process.exit(problems.length > 0 ? 1 : 0)

interface Comparison {
  readonly plain: Outcomes
  readonly runner: Outcomes
  /** Tests that differed in every attempt, with both outcomes. */
  readonly alwaysDifferent: Map<string, string>
  /** Tests that differed in at least one attempt. */
  readonly everDifferent: Set<string>
}

async function compare(module: string, known: readonly ExpectedDifference[]): Promise<Comparison> {
  const first = await compareOnce(module)
  const alwaysDifferent = new Map(first.differences)
  const everDifferent = new Set(alwaysDifferent.keys())
  const isUnknown = (test: string) => !known.some((one) => one.test === test)
  const isClear = () =>
    ![...alwaysDifferent.keys()].some(isUnknown) && known.every(({ test }) => everDifferent.has(test))
  for (let attempt = 1; attempt < attempts && !isClear(); attempt += 1) {
    const { differences } = await compareOnce(module)
    for (const test of differences.keys()) everDifferent.add(test)
    for (const test of alwaysDifferent.keys()) if (!differences.has(test)) alwaysDifferent.delete(test)
  }
  return { plain: first.plain, runner: first.runner, alwaysDifferent, everDifferent }
}

async function compareOnce(module: string) {
  const plain = await runPlain(image, module)
  const runner = hasTimedOut(plain.outcomes) ? plain : await runInRunner(backend, module)
  if (process.env['PTC_COMPARE_DETAILS'] !== undefined) console.log(runner.problems)
  return { plain: plain.outcomes, runner: runner.outcomes, differences: differencesOf(plain.outcomes, runner.outcomes) }
}

function passed(outcomes: Outcomes): number {
  return Object.values(outcomes).filter((outcome) => outcome === 'pass').length
}
