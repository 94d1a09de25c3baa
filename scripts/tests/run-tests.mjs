// Runs vitest, optionally repeats failed files, and prints the count as the last line.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withTemporaryFiles } from './reports/report-lines.mjs'
import { root } from '../setup.mjs'
import { exitCodeOf, exitOnSignals } from './signals.mjs'
import { countLine, countsOf, hasFailed, nameOf } from './reports/test-results.mjs'
import { runVitest } from './vitest-process.mjs'

/** When more files fail, no file is repeated. */
const maxFlakyFiles = 3

let counts = { passed: 0, failed: 1, skipped: 0 }

/** Prints the count as the last line at any exit of this process. Every test command calls it first. */
export function printCountOnExit() {
  exitOnSignals()
  process.on('exit', () => console.log(countLine(counts)))
}

/** Unit tests that replace modules have their own project. */
const unitProjects = ['unit', 'unit-isolated']

/** Arguments for vitest: those of the command line, and these projects when it names none. */
export function vitestSelection(projects, wanted = process.argv.slice(2)) {
  const isNamed = wanted.some((word) => word.startsWith('--project'))
  const names = projects.flatMap((name) => (name === 'unit' ? unitProjects : name))
  return [...(isNamed ? [] : names.flatMap((name) => ['--project', name])), ...wanted]
}

/**
 * Runs the tests and returns the exit code.
 *
 * @param {string[]} selection arguments for vitest
 * @param {object} options
 * @param {() => string[] | Promise<string[]>} [options.printReports] prints reports after the tests; each line that it
 *   returns counts as a failure
 * @param {boolean} [options.repeatsFailedFiles] a file that fails and then passes by itself counts as flaky, not as
 *   failed
 * @param {number} [options.seconds] time limit of vitest
 * @param {string[]} [options.vitestOptions] arguments for every run of vitest
 * @param {string[]} [options.problems] failures before the tests
 * @param {string} [options.report] file for results and durations
 */
export async function runTests(selection, options = {}) {
  const { printReports = () => [], repeatsFailedFiles = false, seconds = 24 * 3600, problems = [] } = options
  const { vitestOptions = [], report = join(root, 'test-report.json') } = options
  const startedAt = performance.now()
  return withTemporaryFiles(async (file) => {
    const run = (name, wanted) =>
      runVitest([...vitestOptions, ...wanted], {
        lines: file(name),
        seconds: seconds - (performance.now() - startedAt) / 1_000,
      })
    const first = await run('first', selection)
    const { flaky, repeats } = repeatsFailedFiles ? await repeatFailedFiles(first, run) : { flaky: [], repeats: [] }
    const files = first.files.map((each) => flaky.find(({ first }) => first === each)?.second ?? each)
    writeFileSync(report, `${JSON.stringify({ files, flaky }, undefined, 2)}\n`)
    const allProblems = [
      ...problems,
      ...problemsOf(first),
      ...repeats.flatMap(incompleteReasons),
      ...(await printReports()),
    ]
    printSummary(files, flaky, allProblems)
    counts = countsOf(files)
    counts.failed += allProblems.length
    const interruptedBy = [first, ...repeats].map((run) => run.interruptedBy).find(Boolean)
    if (interruptedBy) return exitCodeOf(interruptedBy)
    return counts.failed === 0 ? 0 : 1
  })
}

/** Failures outside tests. Each counts as one. */
function problemsOf(run) {
  const problems = run.unhandled.map((message) => `an error that belongs to no test file: ${message}`)
  const early = incompleteReasons(run)
  if (early.length > 0) return [...problems, ...early]
  const howItEnded = run.signal ?? `exit code ${run.code}`
  if (!run.isComplete) return [...problems, `vitest ended with ${howItEnded} before its tests did`]
  if (run.files.every(({ passed, failures }) => passed + failures.length === 0)) return [...problems, 'no test ran']
  // For example, the global tear-down failed.
  const isExplained = run.code === 0 || problems.length > 0 || run.files.some(hasFailed)
  return isExplained ? problems : [`vitest ended with ${howItEnded}, and no test failed`]
}

function incompleteReasons({ interruptedBy, isCutOff, unfinished }) {
  const notEnded = unfinished.length === 0 ? '' : `; not at their end: ${unfinished.map(nameOf).join(', ')}`
  if (interruptedBy) return [`interrupted by ${interruptedBy}${notEnded}`]
  return isCutOff ? [`cut off by the time limit${notEnded}`] : []
}

/** @returns the files that pass by themselves, with both results, and the runs of vitest */
async function repeatFailedFiles(first, run) {
  const failed = first.isComplete ? first.files.filter(hasFailed) : []
  const flaky = []
  const repeats = []
  if (failed.length > maxFlakyFiles) {
    console.log(`\n${failed.length} test files failed: more than ${maxFlakyFiles}, so none is run once more`)
    return { flaky, repeats }
  }
  for (const [index, file] of failed.entries()) {
    console.log(`\nrunning once more, by itself: ${nameOf(file)}`)
    const again = await run(`again-${index}`, ['--project', file.project, file.file])
    repeats.push(again)
    if (again.interruptedBy || again.isCutOff) break
    const second = again.files.find((each) => nameOf(each) === nameOf(file))
    if (again.code !== 0 || second === undefined || hasFailed(second)) continue
    flaky.push({ first: file, second })
    printFlaky(file)
  }
  return { flaky, repeats }
}

function printSummary(files, flaky, problems) {
  for (const file of files) {
    for (const { name, message } of file.failures)
      console.log(`\nfailed: ${nameOf(file)} > ${name}\n${shortened(message)}`)
  }
  for (const { first } of flaky) printFlaky(first)
  for (const problem of problems) console.log(`\nfailed: ${problem}`)
}

function printFlaky(file) {
  for (const { name, message } of file.failures)
    console.log(`\nflaky: ${nameOf(file)} > ${name}\n${shortened(message)}`)
}

function shortened(message) {
  return message
    .split('\n')
    .slice(0, 12)
    .map((line) => `  ${line}`)
    .join('\n')
}
