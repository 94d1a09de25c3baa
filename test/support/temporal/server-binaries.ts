import { buildWithGo } from '../setup/build-with-go.js'
import { findPostgres } from './postgres.js'
import { optionalDependency } from '../setup/optional-dependency.js'

/** The version of the server in the CLI that the project uses: see `cliVersion`. */
const version = '1.31.2'
const tags = 'disable_grpc_modules'
const server = {
  name: 'temporal-server',
  version,
  tags,
  package: 'go.temporal.io/server/cmd/server',
  buildTime: 'about 4 minutes',
}
const sqlTool = {
  name: 'temporal-sql-tool',
  version,
  tags,
  package: 'go.temporal.io/server/cmd/tools/sql',
  buildTime: 'about a minute',
}

export interface TemporalServerBinaries {
  readonly server: string
  readonly sqlTool: string
}

/**
 * Temporal's real server (the dev server does not support PostgreSQL) and its schema tool. PTC_TEST_POSTGRES is
 * `required`, `auto` (default: when they are unavailable, tests that need them are skipped with a message) or `off`.
 *
 * @returns undefined when the tests must be skipped
 * @throws Error when they are required and unavailable
 */
export function temporalServerBinaries(): Promise<TemporalServerBinaries | undefined> {
  return optionalDependency('PTC_TEST_POSTGRES', 'Temporal on PostgreSQL', async () => {
    findPostgres()
    return { server: await buildWithGo(server), sqlTool: await buildWithGo(sqlTool) }
  })
}
