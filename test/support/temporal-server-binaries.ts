import { builtWithGo } from './built-with-go.js'
import { findPostgres } from './postgres.js'
import { getIfWanted } from './wanted.js'

/** The server inside of the CLI that the project uses: see `cliVersion`. */
const version = '1.31.2'
const tags = 'disable_grpc_modules'
const server = {
  name: 'temporal-server',
  version,
  tags,
  package: 'go.temporal.io/server/cmd/server',
  takes: 'about 4 minutes',
}
const sqlTool = {
  name: 'temporal-sql-tool',
  version,
  tags,
  package: 'go.temporal.io/server/cmd/tools/sql',
  takes: 'about a minute',
}

export interface TemporalServerBinaries {
  readonly server: string
  readonly sqlTool: string
}

/**
 * Temporal's real server (the dev server knows no PostgreSQL) and the tool that makes its tables. As PTC_TEST_POSTGRES says:
 * `required`, `auto` (default: without them the tests say so and are skipped), `off`.
 *
 * @returns undefined when the tests are to be skipped
 * @throws Error when they are required and can't be had
 */
export function temporalServerBinaries(): Promise<TemporalServerBinaries | undefined> {
  return getIfWanted('PTC_TEST_POSTGRES', 'Temporal on PostgreSQL', async () => {
    findPostgres()
    return { server: await builtWithGo(server), sqlTool: await builtWithGo(sqlTool) }
  })
}
