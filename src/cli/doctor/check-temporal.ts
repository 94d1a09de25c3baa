import { Connection } from '@temporalio/client'
import { defined } from '../../common/defined.js'
import { messageOf } from '../../common/errors.js'
import { hasErrorCode } from '../../common/system-error.js'
import { isAtLeast } from '../../common/versions.js'
import type { EnvironmentVariables } from '../../platform/cache-directory.js'
import { resolveTemporal, type TemporalServer } from '../../dev-server/index.js'
import {
  type SearchAttributeName,
  searchAttributeNames,
  searchAttributeTypes,
  toTemporalType,
} from '../../common/run/search-attributes.js'
import { registeredSearchAttributes } from '../../worker/resources/search-attributes.js'
import { checkCli, cliVersion, installedClis, minimumServerVersion } from '../../dev-server/temporal-cli.js'
import { type Check, error, failed, ok, warning } from './check.js'

const name = 'Temporal'
const timeoutMs = 5_000

/** Checks the server that would be used; when none runs, whether one could be started. */
export async function checkTemporal(
  stateDirectory: string,
  environment: EnvironmentVariables = process.env,
): Promise<readonly Check[]> {
  try {
    const server = await resolveTemporal({ stateDirectory, environment, onProgress: () => undefined })
    return server === undefined ? [await checkCanStart(environment)] : await checkServer(server)
  } catch (thrown) {
    return [failed(name, thrown)]
  }
}

async function checkServer(server: TemporalServer): Promise<readonly Check[]> {
  const { address, connectionOptions } = server
  const { tls, apiKey, metadata } = connectionOptions
  const connection = await Connection.connect({
    address,
    connectTimeout: timeoutMs,
    ...defined({ tls, apiKey, metadata }),
  })
  try {
    return [await checkVersion(connection, server), await checkSearchAttributes(connection, server)]
  } finally {
    await connection.close()
  }
}

async function checkVersion(connection: Connection, { address, namespace, origin }: TemporalServer): Promise<Check> {
  const { serverVersion } = await connection.withDeadline(Date.now() + timeoutMs, () =>
    connection.workflowService.getSystemInfo({}),
  )
  const version = serverVersion ?? ''
  const found = `server ${version || 'of unknown version'} at ${address}, namespace ${namespace} (${origin})`
  // Temporal Cloud has other version names and is never too old.
  if (!/^\d+\.\d+/.test(version) || isAtLeast(version, minimumServerVersion)) return ok(name, found)
  return error(name, `${found} is too old`, `Update it to ${minimumServerVersion} or newer.`)
}

/** A run works without search attributes, but searches for them do not find it. */
async function checkSearchAttributes(connection: Connection, { address, namespace }: TemporalServer): Promise<Check> {
  const name = 'Search attributes'
  try {
    const registered = await registeredSearchAttributes(connection, namespace)
    const missing = searchAttributeNames.filter((each) => !registered.includes(each))
    if (missing.length === 0) return ok(name, `${registered.join(', ')} are registered`)
    return warning(
      name,
      `${missing.join(', ')} are missing: runs can't be listed by them`,
      createCommand(missing, address, namespace),
    )
  } catch (thrown) {
    return warning(name, `the server does not list them: ${messageOf(thrown)}`, 'Runs work without them.')
  }
}

/** The command that registers search attributes. It pairs names and types, so it repeats the type for each name. */
function createCommand(names: readonly SearchAttributeName[], address: string, namespace: string): string {
  const flags = names.map((each) => `--name ${each} --type ${toTemporalType(searchAttributeTypes[each])}`).join(' ')
  return `temporal operator search-attribute create --address ${address} --namespace ${namespace} ${flags}`
}

async function checkCanStart(environment: EnvironmentVariables): Promise<Check> {
  for (const { path } of installedClis(environment)) {
    try {
      const version = await checkCli(path, environment, AbortSignal.timeout(timeoutMs))
      return ok(name, `no server is running; \`ptc dev\` starts one from ${path} (server ${version})`)
    } catch (thrown) {
      if (hasErrorCode(thrown, 'ENOENT')) continue
      return warning(name, messageOf(thrown), `\`ptc dev\` installs the Temporal CLI ${cliVersion} for itself.`)
    }
  }
  const message = 'no server is running, and this machine has no Temporal CLI'
  return warning(name, message, `\`ptc dev\` downloads the Temporal CLI ${cliVersion} once; or set TEMPORAL_ADDRESS.`)
}
