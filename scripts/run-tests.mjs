// Runs vitest; the last line is the count from its own report.
// PTC_TEST_DOCKER: required (no daemon: fail), auto (no daemon: say so and skip), off.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root, stop } from './setup.mjs'

const report = join(root, 'test-report.json')
const modes = ['required', 'auto', 'off']

/** What the command line asks vitest for; these projects when it names none. */
export function choiceOf(projects) {
  const wanted = process.argv.slice(2)
  const isNamed = wanted.some((word) => word.startsWith('--project'))
  return [...(isNamed ? [] : projects.flatMap((name) => ['--project', name])), ...wanted]
}

/**
 * Gives the exit code. `tell` is called when the tests have ended, for a report, since nothing comes after the line with the count; each line
 * that it gives is one more failure.
 *
 * @param {string[]} vitestArguments
 * @param {() => string[] | Promise<string[]>} tell
 */
export async function runTests(vitestArguments, tell = () => []) {
  const docker = process.env['PTC_TEST_DOCKER'] ?? 'auto'
  if (!modes.includes(docker)) stop(`PTC_TEST_DOCKER is ${docker}; it can be ${modes.join(', ')}.`)
  // An old report must not speak for a run that crashed before it wrote one.
  rmSync(report, { force: true })
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const { status, signal } = spawnSync(
    process.execPath,
    [vitest, 'run', ...reporters(vitestArguments), ...vitestArguments],
    { cwd: root, stdio: 'inherit', env: { ...process.env, PTC_TEST_DOCKER: docker } },
  )
  const how = signal ?? `exit code ${status}`
  const counts = readCounts()
  if (counts === undefined) console.error(`durable-ptc: vitest ended (${how}) without a report`)
  const { passed, failed, skipped } = counts ?? { passed: 0, failed: 0, skipped: 0 }
  const nothingRan = counts !== undefined && passed + failed === 0
  if (nothingRan) console.error('durable-ptc: no test ran')
  const problems = await tell()
  for (const problem of problems) console.error(`durable-ptc: ${problem}`)
  // vitest can fail without a failed test: an unhandled rejection, a broken global set-up. That is a failure too.
  const others = failed === 0 && (status !== 0 || counts === undefined || nothingRan) ? 1 : 0
  const allFailed = failed + problems.length + others
  console.log(`${passed} passed, ${allFailed} failed, ${skipped} skipped`)
  return allFailed === 0 ? 0 : 1
}

/** Given here because a reporter that the caller asks for replaces those of the configuration, and the report with them. */
function reporters(vitestArguments) {
  const own = vitestArguments.some((argument) => argument.startsWith('--reporter'))
  return ['--reporter=json', `--outputFile.json=${report}`, ...(own ? [] : ['--reporter=default'])]
}

function readCounts() {
  let result
  try {
    result = JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    return undefined
  }
  // A file that breaks while it loads has no tests to count; it failed all the same.
  const brokenFiles = result.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  )
  return {
    passed: result.numPassedTests,
    failed: result.numFailedTests + brokenFiles.length,
    skipped: result.numPendingTests + result.numTodoTests,
  }
}
