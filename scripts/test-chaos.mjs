// `npm run test:chaos [-- vitest arguments]`: everything is killed, everywhere, and the functional suite runs in harder worlds; then
// a report of all of it.
// PTC_CHAOS_SEED and PTC_CHAOS_RUNS choose the random runs; one seed repeats one run: PTC_CHAOS_SEED=7 PTC_CHAOS_RUNS=1 npm run test:chaos -- random
import { build } from './build.mjs'
import { tellChaos } from './chaos-report.mjs'
import { modes, tellModes } from './modes-report.mjs'
import { withFiles } from './report-lines.mjs'
import { choiceOf, runTests } from './run-tests.mjs'
import { setup } from './setup.mjs'

const isAll = process.argv.length === 2

setup()
await build()
await build('chaos')
process.exit(
  await withFiles((file) => {
    process.env.PTC_CHAOS_REPORT = file('chaos')
    process.env.PTC_MODES_REPORT = file('modes')
    return runTests(choiceOf(['chaos', 'long', ...modes]), async () => {
      const harmless = tellModes(file('modes'))
      const missed = await tellChaos(file('chaos'))
      return [...harmless, ...(isAll ? missed.map((fault) => `no run has met ${fault}`) : [])]
    })
  }),
)
