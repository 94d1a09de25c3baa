import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Postgres } from '../../test/support/temporal/postgres.js'
import type { BenchContext } from './benchmark.js'

const version = '5.3.0'

const driver = fileURLToPath(new URL('dbos-driver.mjs', import.meta.url))

/** DBOS Transact in its own process. */
export interface Dbos {
  readonly version: string
  /** Runs the program, and returns its milliseconds there. */
  run(): Promise<number>
}

/** Installs DBOS Transact (npm) into the cache, once, and starts it. Its PostgreSQL has the default durability. */
export async function startDbos({ progress, defer }: BenchContext): Promise<Dbos> {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  const folder = join(cache, 'durable-ptc', `dbos-sdk-${version}`)
  if (!existsSync(join(folder, 'node_modules/@dbos-inc/dbos-sdk'))) {
    progress(`installing DBOS Transact into ${folder}`)
    await mkdir(folder, { recursive: true })
    const packages = ['--no-audit', '--no-fund', `@dbos-inc/dbos-sdk@${version}`]
    await promisify(execFile)('npm', ['install', '--prefix', folder, ...packages])
  }
  const database = await Postgres.start({ fsync: true })
  defer(() => database.close())
  const url = `postgresql://${database.user}@127.0.0.1:${database.port}/dbos`
  const child = spawn(process.execPath, [driver, folder, url], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  defer(() => child.kill())
  return {
    version,
    async run() {
      child.stdin.write('run\n')
      const { value, done } = await lines.next()
      if (done) throw new Error('DBOS Transact ended during the program; see above')
      return Number(value)
    },
  }
}
