// `npm run test:ci [-- --shard=3/44]`: the checks, then unit, integration, attacks, and one slice of the long suites.
// The number of commits chooses the slice, so that every slice has its turn; `--shard` chooses another.
// A file that fails, and passes when it runs by itself, is reported as flaky and does not fail the run.
// PTC_CI_SECONDS: what does not end within these is cut off.
import { spawnSync } from 'node:child_process'
import { build } from './build.mjs'
import { modes } from './modes-report.mjs'
import { choiceOf, endWithCount, runTests } from './run-tests.mjs'
import { progress, root, setup } from './setup.mjs'
import { withReports } from './suite-reports.mjs'

/** A slice takes one to two minutes. Raise this when CI takes longer than 23 minutes on a quiet machine of 2 cores. */
const slices = 44

const begun = performance.now()
const secondsInAll = Number(process.env['PTC_CI_SECONDS'] ?? 3600)
const left = () => Math.max(1, secondsInAll - (performance.now() - begun) / 1_000)

endWithCount()
setup()
const problems = check()
await build()
await build('chaos')
const chosen = choiceOf(['unit', 'integration', 'attacks', 'chaos', 'long', ...modes])
const hasSlice = chosen.some((word) => word.startsWith('--shard'))
const selection = hasSlice ? chosen : [...chosen, `--shard=${sliceOfCommit()}/${slices}`]
if (!hasSlice) progress(`to repeat the same tests: npm run test:ci -- ${selection.at(-1)}`)
process.exit(
  await withReports(false, (tell) =>
    runTests(selection, { tell, repeatsFailedFiles: true, seconds: left(), problems }),
  ),
)

function check() {
  progress('npm run check')
  const { status, error } = spawnSync('npm', ['run', '--silent', 'check'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    timeout: Math.ceil(left() * 1_000),
  })
  return status === 0 ? [] : [`npm run check (${error?.message ?? `exit code ${status}`})`]
}

function sliceOfCommit() {
  const { stdout } = spawnSync('git', ['rev-list', '--count', 'HEAD'], { cwd: root, encoding: 'utf8' })
  return ((Number(stdout) || 0) % slices) + 1
}
