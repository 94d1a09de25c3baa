import { startDevServer } from '../../../src/dev-server/index.js'
import { type DockerState, prepareDocker } from '../docker/prepare-docker.js'
import { pythonPackages } from '../python/python-environment.js'
import { s3Binary } from '../s3/s3-binary.js'
import { printProgress, requirementOf } from './optional-dependency.js'

/** Values for vitest's `inject`. */
export interface TestServices {
  readonly temporal: { readonly address: string; readonly namespace: string }
  readonly docker: DockerState
}

export interface RunningServices extends TestServices {
  close(): Promise<void>
}

/** Long enough to build the server from source at the first start. */
const startMs = 20 * 60_000

/**
 * Starts the shared services of all tests: Docker if required, and a Temporal server in memory. Never uses
 * TEMPORAL_ADDRESS, which may name a production server.
 */
export async function startServices(): Promise<RunningServices> {
  // Built before the tests start, because tests have deadlines.
  if (requirementOf('PTC_TEST_S3') === 'required') await s3Binary()
  if (requirementOf('PTC_TEST_PYTHON') === 'required') await pythonPackages()
  const docker = await prepareDocker(printProgress)
  const server = await startDevServer({ onProgress: printProgress, signal: AbortSignal.timeout(startMs) })
  const { address, namespace } = server
  return { temporal: { address, namespace }, docker, close: () => server.close() }
}
