// `npm run test:ci [-- --shard=3/200]`: the checks, then unit, integration, attacks, and one shard of the long suites.
// The number of commits chooses the shard, so that every shard has its turn; `--shard` chooses another one. A file that
// fails and then passes by itself is reported as flaky and does not fail the run. PTC_CI_SECONDS limits the time of the
// whole run.
import { spawnSync } from 'node:child_process'
import { build } from '../build.mjs'
import { vitestSelection, printCountOnExit, runTests } from './run-tests.mjs'
import { progress, root, setup } from '../setup.mjs'
import { modes, withReports } from './reports/suite-reports.mjs'

/**
 * Most shards take less than half a minute. Raise this number, or move long files to test/slow, when CI takes longer than
 * 15 minutes on a quiet machine of 2 cores.
 */
const shards = 600

const startedAt = performance.now()
const totalSeconds = Number(process.env['PTC_CI_SECONDS'] ?? 3600)
const secondsLeft = () => Math.max(1, totalSeconds - (performance.now() - startedAt) / 1_000)

printCountOnExit()
setup()
const problems = check()
await build()
const chosen = vitestSelection(['unit', 'integration', 'attacks', 'chaos', 'slow', ...modes])
const hasShard = chosen.some((word) => word.startsWith('--shard'))
const selection = hasShard ? chosen : [...chosen, `--shard=${shardOfCommit()}/${shards}`]
if (!hasShard) progress(`to repeat the same tests: npm run test:ci -- ${selection.at(-1)}`)
process.exit(
  await withReports(false, (printReports) =>
    runTests(selection, { printReports, repeatsFailedFiles: true, seconds: secondsLeft(), problems }),
  ),
)

function check() {
  progress('npm run check')
  const { status, error } = spawnSync('npm', ['run', '--silent', 'check'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    timeout: Math.ceil(secondsLeft() * 1_000),
  })
  return status === 0 ? [] : [`npm run check (${error?.message ?? `exit code ${status}`})`]
}

function shardOfCommit() {
  const { stdout } = spawnSync('git', ['rev-list', '--count', 'HEAD'], { cwd: root, encoding: 'utf8' })
  return ((Number(stdout) || 0) % shards) + 1
}
