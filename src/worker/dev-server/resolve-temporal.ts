import { isGrpcServiceError } from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import { PtcError, messageOf } from '../../common/errors.js'
import type { Environment } from '../../sandbox/cache-directory.js'
import { explainConnection } from './explain-connection.js'
import { probe } from './probe.js'
import { findRunningDevServer } from './running-server.js'
import { type TemporalServer, foreignServer } from './temporal-server.js'

export interface ResolveTemporalOptions {
  /** Where a dev server of this project would keep its state; undefined: look for none. */
  readonly stateDirectory?: string | undefined
  /** Instead of `process.env`. */
  readonly environment?: Environment
  readonly onProgress: (line: string) => void
}

const answerMs = 5_000

/**
 * The Temporal server to use without starting one: what `TEMPORAL_ADDRESS` or a `temporal.toml` profile names, else
 * the dev server that runs on the state directory, else undefined.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE when the named one does not answer within 5 s: it is never replaced in silence
 */
export async function resolveTemporal(options: ResolveTemporalOptions): Promise<TemporalServer | undefined> {
  const configured = await configuredServer(options)
  if (configured !== undefined || options.stateDirectory === undefined) return configured
  return findRunningDevServer(options.stateDirectory)
}

async function configuredServer(options: ResolveTemporalOptions): Promise<TemporalServer | undefined> {
  const { connectionOptions, namespace = 'default' } = loadConfig(options.environment ?? process.env)
  const { address } = connectionOptions
  if (address === undefined) return undefined
  try {
    await probe(connectionOptions, namespace, answerMs)
  } catch (error) {
    const code: number | undefined = isGrpcServiceError(error) ? error.code : undefined
    if (code === notFound) throw noNamespace(address, namespace, error)
    const reason = await explainConnection(address, Boolean(connectionOptions.tls))
    throw new PtcError(
      'TEMPORAL_UNREACHABLE',
      `Temporal at ${address}, namespace ${namespace}, can not be used: ${reason ?? messageOf(error)}`,
      {
        hint:
          'TEMPORAL_ADDRESS or a temporal.toml profile names this server. ' +
          'Start it or correct the address; without either, `ptc dev` starts a server of its own.',
        cause: error,
      },
    )
  }
  options.onProgress(`Temporal: ${address}, namespace ${namespace} (configured)`)
  return foreignServer({ address, namespace, connectionOptions, uiUrl: undefined, origin: 'configured' })
}

/** gRPC's NOT_FOUND. */
const notFound = 5

function noNamespace(address: string, namespace: string, cause: unknown): PtcError {
  return new PtcError('TEMPORAL_UNREACHABLE', `Temporal at ${address} has no namespace ${namespace}`, {
    hint: 'TEMPORAL_NAMESPACE or a temporal.toml profile names it; correct it, or create the namespace on the server.',
    cause,
  })
}

function loadConfig(environment: Environment) {
  try {
    return loadClientConnectConfig({ overrideEnvVars: definedOnly(environment) })
  } catch (error) {
    throw new PtcError('CONFIG_INVALID', `the Temporal connection settings are broken: ${messageOf(error)}`, {
      hint: 'Check TEMPORAL_* variables and temporal.toml (https://docs.temporal.io/develop/environment-configuration).',
      cause: error,
    })
  }
}

function definedOnly(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
