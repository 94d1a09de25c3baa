// `npm test [-- vitest arguments]`: install, build, run everything; the last line is the count from vitest's own report.
// PTC_TEST_DOCKER: required (no daemon: fail), auto (no daemon: say so and skip), off.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from './build.mjs'
import { root, setup, stop } from './setup.mjs'

const report = join(root, 'test-report.json')
const modes = ['required', 'auto', 'off']
/** What runs unless other projects are asked for; the modes are `npm run test:modes`. */
const usual = ['--project=unit', '--project=integration', '--project=attacks']

const docker = process.env['PTC_TEST_DOCKER'] ?? 'auto'
if (!modes.includes(docker)) stop(`PTC_TEST_DOCKER is ${docker}; it can be ${modes.join(', ')}.`)

setup()
await build()
process.exit(runTests())

function runTests() {
  // An old report must not speak for a run that crashed before it wrote one.
  rmSync(report, { force: true })
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const asked = process.argv.slice(2)
  const projects = asked.some((argument) => argument.startsWith('--project')) ? [] : usual
  const { status, signal } = spawnSync(process.execPath, [vitest, 'run', ...reporters(), ...projects, ...asked], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PTC_TEST_DOCKER: docker },
  })
  const how = signal ?? `exit code ${status}`
  const counts = readCounts()
  if (counts === undefined) console.error(`durable-ptc: vitest ended (${how}) without a report`)
  const { passed, failed, skipped } = counts ?? { passed: 0, failed: 0, skipped: 0 }
  const nothingRan = counts !== undefined && passed + failed === 0
  if (nothingRan) console.error('durable-ptc: no test ran')
  // vitest can fail without a failed test: an unhandled rejection, a broken global set-up. That is a failure too.
  const allFailed = failed === 0 && (status !== 0 || counts === undefined || nothingRan) ? 1 : failed
  console.log(`${passed} passed, ${allFailed} failed, ${skipped} skipped`)
  return allFailed === 0 ? 0 : 1
}

/** Given here because a reporter that the caller asks for replaces those of the configuration, and the report with them. */
function reporters() {
  const own = process.argv.some((argument) => argument.startsWith('--reporter'))
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
