import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import { expect, it } from 'vitest'
import { describeDependency } from '../../support/docker/describe-dependency.js'
import { missingForPrivateDaemon } from '../../support/docker/describe-gvisor.js'
import { describeRedis } from '../../support/stream/redis-server.js'
import { postgresTemporalBinaries } from '../../support/temporal/postgres-temporal.js'
import { soakOptions } from '../support/soak/options.js'
import { soakPage } from '../support/soak/page.js'
import { describeSoak } from '../support/soak/report.js'
import { runSoak, type SoakResult } from '../support/soak/soak.js'

const options = soakOptions(process.env)
/** Reached on failure only. */
const settleMs = 20 * 60_000

const missing = (await postgresTemporalBinaries) === undefined ? ' (there is no Temporal server for PostgreSQL)' : ''
describeRedis('soak', () => {
  const absent = missingForPrivateDaemon(['dockerd', 'ip', 'nsenter'])
  describeDependency('PTC_TEST_DOCKER', 'a fleet whose parts come and go', absent, () => {
    it.skipIf(missing !== '')(
      `F40: hosts, links, workers, Temporal, PostgreSQL and Redis fail: no run is lost, no effect doubled, nothing left${missing}`,
      async () => {
        const result = await runSoak(options)
        const { report } = result
        writeReport(result)
        console.error(describeSoak(report))
        const nothing = { results: [], lost: [], doubled: [], leaked: [], nondeterministic: [], died: [] }
        expect(report.problems, `seed ${options.seed}`).toEqual(nothing)
        // A soak in which a kind of fault hits only parts that do nothing proves nothing.
        expect(report.missing, `seed ${options.seed}`).toEqual([])
      },
      options.minutes * 60_000 + settleMs,
    )
  })
})

/** Writes the files of a report into the folder that PTC_SOAK_REPORT names, if it names one. */
function writeReport({ report, slowest }: SoakResult): void {
  const folder = process.env['PTC_SOAK_REPORT']
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'soak.json'), `${JSON.stringify(report, undefined, 1)}\n`)
  writeFileSync(join(folder, 'soak.html'), soakPage(report))
  for (const { workflowId, chain } of slowest) {
    const histories = chain.map((history) => JSON.parse(historyToJSON(history)) as unknown)
    writeFileSync(join(folder, `slowest-${workflowId}.json`), `${JSON.stringify(histories, undefined, 1)}\n`)
  }
}
