import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { Connection } from '@temporalio/client'
import { messageOf } from '../../common/errors.js'
import type { Environment } from '../../sandbox/cache-directory.js'
import { cachedBinary, executableSuffix } from '../dev-server/cached-binary.js'
import { checkBinary, cliVersion, isAtLeast, oldestServer } from '../dev-server/cli-version.js'
import { resolveTemporal, type TemporalServer } from '../dev-server/index.js'
import { type Check, failed, ok, warning } from './check.js'

const name = 'Temporal'
const answerMs = 5_000

/** The server that would be used; when none runs, whether one could be started. */
export async function checkTemporal(stateDirectory: string, environment: Environment = process.env): Promise<Check> {
  try {
    const server = await resolveTemporal({ stateDirectory, environment, onProgress: () => undefined })
    return server === undefined ? await checkStartable(environment) : await checkServer(server)
  } catch (thrown) {
    return failed(name, thrown)
  }
}

async function checkServer({ address, namespace, connectionOptions, origin }: TemporalServer): Promise<Check> {
  const { tls, apiKey, metadata } = connectionOptions
  const connection = await Connection.connect({
    address,
    connectTimeout: answerMs,
    ...(tls === undefined ? {} : { tls }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(metadata === undefined ? {} : { metadata }),
  })
  try {
    const { serverVersion } = await connection.withDeadline(Date.now() + answerMs, () =>
      connection.workflowService.getSystemInfo({}),
    )
    const version = serverVersion ?? ''
    const found = `server ${version || 'of unknown version'} at ${address}, namespace ${namespace} (${origin})`
    // Temporal Cloud names its versions otherwise, and is never too old.
    if (!/^\d+\.\d+/.test(version) || isAtLeast(version, oldestServer)) return ok(name, found)
    return { name, status: 'error', message: `${found} is too old`, remedy: `Update it to ${oldestServer} or newer.` }
  } finally {
    await connection.close()
  }
}

async function checkStartable(environment: Environment): Promise<Check> {
  for (const path of candidates(environment)) {
    try {
      await access(path, constants.X_OK)
    } catch {
      continue
    }
    try {
      const version = await checkBinary(path, AbortSignal.timeout(answerMs))
      return ok(name, `no server is running; \`ptc dev\` starts one from ${path} (server ${version})`)
    } catch (thrown) {
      return warning(name, messageOf(thrown), `\`ptc dev\` gets the Temporal CLI ${cliVersion} for itself.`)
    }
  }
  const message = 'no server is running, and this machine has no Temporal CLI'
  return warning(name, message, `\`ptc dev\` downloads the Temporal CLI ${cliVersion} once; or set TEMPORAL_ADDRESS.`)
}

function candidates(environment: Environment): readonly string[] {
  const path = environment['PATH'] ?? environment['Path'] ?? ''
  const folders = path.split(delimiter).filter((folder) => folder !== '')
  return [cachedBinary(environment), ...folders.map((folder) => join(folder, `temporal${executableSuffix}`))]
}
