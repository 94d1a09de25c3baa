import { readFileSync } from 'node:fs'
import {
  differencesOf,
  type ExpectedDifference,
  hasTimedOut,
  type Outcomes,
  readExpected,
  staleDifferences,
} from './outcomes.js'

/** Tests that depend on the load of the machine differ sometimes: only tests that differ in every attempt count. */
const attempts = 3

export interface ModuleRun {
  readonly outcomes: Outcomes
  /** Messages of failed tests. */
  readonly problems: string
}

/** Tests of a language, in modules. */
export interface LanguageTests {
  /** The plain interpreter, for people. */
  readonly plain: string
  /** The file with the differences that are known. `PTC_COMPARE_EXPECTED` names another one. */
  readonly expectedFile: string
  readonly modules: readonly string[]
  readonly runPlain: (module: string) => Promise<ModuleRun>
  readonly runInRunner: (module: string) => Promise<ModuleRun>
}

/**
 * Runs tests plain and under the runner, and prints the differences. Returns whether they are those that are known.
 */
export async function compareTests(tests: LanguageTests): Promise<boolean> {
  const { plain: interpreter, modules } = tests
  const expected = readExpected(readFileSync(process.env['PTC_COMPARE_EXPECTED'] ?? tests.expectedFile, 'utf8'))
  const problems: string[] = []
  const total = { tests: 0, plain: 0, runner: 0, different: 0, asExpected: 0, uncertain: 0 }
  for (const [place, module] of modules.entries()) {
    const known = expected.filter((one) => one.module === module)
    const { plain, runner, alwaysDifferent: always, everDifferent: ever } = await compare(tests, module, known)
    const head = `[${place + 1}/${modules.length}] ${module}: `
    if (hasTimedOut(plain)) {
      console.log(`${head}plain ${interpreter} does not end in time, so nothing is compared`)
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
    console.log(`${head}${Object.keys(plain).length} tests, ${counts}`)
    for (const [test, difference] of unknown) problems.push(`${module} ${test}: ${difference}`)
    for (const { test } of gone)
      problems.push(`${module} ${test}: no longer differs, remove it from expected-differences.txt`)
  }
  for (const problem of problems) console.log(`FAILED ${problem}`)
  console.log(
    `${modules.length} modules, ${total.tests} tests: ${total.plain} pass with plain ${interpreter}, ${total.runner} under the runner; ` +
      `${total.different} differ, ${total.asExpected} of them as expected; ${total.uncertain} differed only in some attempts`,
  )
  return problems.length === 0
}

interface Comparison {
  readonly plain: Outcomes
  readonly runner: Outcomes
  /** Tests that differed in every attempt, with both outcomes. */
  readonly alwaysDifferent: Map<string, string>
  /** Tests that differed in at least one attempt. */
  readonly everDifferent: Set<string>
}

async function compare(
  tests: LanguageTests,
  module: string,
  known: readonly ExpectedDifference[],
): Promise<Comparison> {
  const first = await compareOnce(tests, module)
  const alwaysDifferent = new Map(first.differences)
  const everDifferent = new Set(alwaysDifferent.keys())
  const isUnknown = (test: string) => !known.some((one) => one.test === test)
  const isClear = () =>
    ![...alwaysDifferent.keys()].some(isUnknown) && known.every(({ test }) => everDifferent.has(test))
  for (let attempt = 1; attempt < attempts && !isClear(); attempt += 1) {
    const { differences } = await compareOnce(tests, module)
    for (const test of differences.keys()) everDifferent.add(test)
    for (const test of alwaysDifferent.keys()) if (!differences.has(test)) alwaysDifferent.delete(test)
  }
  return { plain: first.plain, runner: first.runner, alwaysDifferent, everDifferent }
}

async function compareOnce(tests: LanguageTests, module: string) {
  const plain = await tests.runPlain(module)
  const runner = hasTimedOut(plain.outcomes) ? plain : await tests.runInRunner(module)
  if (process.env['PTC_COMPARE_DETAILS'] !== undefined) console.log(runner.problems)
  return { plain: plain.outcomes, runner: runner.outcomes, differences: differencesOf(plain.outcomes, runner.outcomes) }
}

function passed(outcomes: Outcomes): number {
  return Object.values(outcomes).filter((outcome) => outcome === 'pass').length
}
