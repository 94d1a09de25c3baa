import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Postgres } from '../../test/support/temporal/postgres.js'
import type { BenchContext } from './benchmark.js'
import { ensureInstalled, type Peer, peers, startDriver } from './peer.js'

const name = 'DBOS Transact'
const version = '5.3.0'

/** Installs DBOS Transact (npm) into the cache, and starts it. Its PostgreSQL has the default durability. */
export async function startDbos(context: BenchContext): Promise<Peer<'run'>> {
  const folder = await ensureInstalled(`dbos-sdk-${version}`, context, (prefix) =>
    promisify(execFile)('npm', [
      'install',
      '--prefix',
      prefix,
      '--no-audit',
      '--no-fund',
      `@dbos-inc/dbos-sdk@${version}`,
    ]),
  )
  const database = await Postgres.start({ fsync: true })
  context.defer(() => database.close())
  const url = `postgresql://${database.user}@127.0.0.1:${database.port}/dbos`
  return startDriver({ name, version }, [process.execPath, join(peers, 'dbos-driver.mjs'), folder, url], context)
}
