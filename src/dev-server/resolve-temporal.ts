import { isGrpcServiceError } from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import { PtcError, messageOf } from '../common/errors.js'
import type { EnvironmentVariables } from '../platform/cache-directory.js'
import { diagnoseConnection } from './diagnose-connection.js'
import { probeNamespace } from './probe.js'
import { findRunningDevServer } from './running-server.js'
import { type TemporalServer, existingServer } from './temporal-server.js'

interface ResolveTemporalOptions {
  /** State directory of this project's dev server; undefined: don't look for one. */
  readonly stateDirectory?: string | undefined
  /** Default: `process.env`. */
  readonly environment?: EnvironmentVariables
  readonly onProgress: (line: string) => void
}

const timeoutMs = 5_000

/**
 * Finds the Temporal server to use: the one that `TEMPORAL_ADDRESS` or a `temporal.toml` profile names, else the dev
 * server that runs on the state directory, else undefined.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE when the named server does not answer within 5 s
 */
export async function resolveTemporal(options: ResolveTemporalOptions): Promise<TemporalServer | undefined> {
  const configured = await configuredServer(options)
  if (configured !== undefined || options.stateDirectory === undefined) return configured
  return findRunningDevServer(options.stateDirectory)
}

async function configuredServer(options: ResolveTemporalOptions): Promise<TemporalServer | undefined> {
  const { connectionOptions, namespace = 'default' } = loadConnectConfig(options.environment ?? process.env)
  const { address } = connectionOptions
  if (address === undefined) return undefined
  try {
    await probeNamespace(connectionOptions, namespace, timeoutMs)
  } catch (error) {
    const code: number | undefined = isGrpcServiceError(error) ? error.code : undefined
    if (code === notFound) throw namespaceNotFound(address, namespace, error)
    const reason = await diagnoseConnection(address, Boolean(connectionOptions.tls))
    throw new PtcError(
      'TEMPORAL_UNREACHABLE',
      `Temporal at ${address}, namespace ${namespace}, can't be used: ${reason ?? messageOf(error)}`,
      {
        hint:
          'TEMPORAL_ADDRESS or a temporal.toml profile names this server. ' +
          'Start it or correct the address; without either, `ptc dev` starts another server.',
        cause: error,
      },
    )
  }
  options.onProgress(`Temporal: ${address}, namespace ${namespace} (configured)`)
  return existingServer({ address, namespace, connectionOptions, uiUrl: undefined, origin: 'configured' })
}

/** gRPC's NOT_FOUND. */
const notFound = 5

function namespaceNotFound(address: string, namespace: string, cause: unknown): PtcError {
  return new PtcError('TEMPORAL_UNREACHABLE', `Temporal at ${address} has no namespace ${namespace}`, {
    hint: 'TEMPORAL_NAMESPACE or a temporal.toml profile names it; correct it, or create the namespace on the server.',
    cause,
  })
}

function loadConnectConfig(environment: EnvironmentVariables) {
  const isSet = (entry: [string, string | undefined]): entry is [string, string] => entry[1] !== undefined
  const values = Object.entries(environment).filter(isSet)
  try {
    return loadClientConnectConfig({ overrideEnvVars: Object.fromEntries(values) })
  } catch (error) {
    throw new PtcError('CONFIG_INVALID', `the Temporal connection settings are broken: ${messageOf(error)}`, {
      hint: 'Check TEMPORAL_* variables and temporal.toml (https://docs.temporal.io/develop/environment-configuration).',
      cause: error,
    })
  }
}
