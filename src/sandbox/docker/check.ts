import type { BackendCheck } from '../backend.js'
import {
  readInfo,
  readVersion,
  supportsCheckpoint,
  usesUserNamespace,
  type DaemonInfo,
  type DaemonVersion,
} from './engine/daemon-info.js'
import { daemonProblems, transportProblems } from './engine/daemon-problems.js'
import type { DockerEngine } from './engine/docker-engine.js'
import { dockerError } from './engine/docker-error.js'
import { withTimeout } from './engine/with-timeout.js'
import type { SandboxImage } from './image/sandbox-image.js'

interface CheckDaemonOptions {
  readonly engine: DockerEngine
  readonly timeoutMs: number
  readonly runtime: string | undefined
  readonly image: SandboxImage
}

/**
 * Finds all problems of a daemon and of the image, each with a remedy. One timeout covers all requests. Never rejects.
 */
export async function checkDaemon({ engine, timeoutMs, runtime, image }: CheckDaemonOptions): Promise<BackendCheck> {
  try {
    const [version, info, inspection] = await withTimeout(timeoutMs, undefined, (signal) =>
      Promise.all([readVersion(engine, signal), readInfo(engine, signal), image.inspect(signal)]),
    )
    const problems = [
      ...transportProblems(engine.address),
      ...daemonProblems(info, runtime),
      ...(inspection.usable
        ? []
        : [{ severity: 'error', kind: 'image', message: inspection.problem, remedy: inspection.remedy } as const]),
    ]
    return {
      usable: problems.every(({ severity }) => severity !== 'error'),
      summary: `${daemonSummary(version, info, runtime)}, image ${image.name}`,
      problems,
    }
  } catch (thrown) {
    const error = dockerError(thrown, 'reach the Docker daemon', engine.address.context)
    const problem = { severity: 'error', message: error.message, remedy: error.hint ?? '' } as const
    return { usable: false, summary: 'Docker is not available', problems: [problem] }
  }
}

function daemonSummary(version: DaemonVersion, info: DaemonInfo, runtime: string | undefined): string {
  const isolation = usesUserNamespace(info) ? 'user namespace' : 'no user namespace (userns-remap or rootless adds one)'
  const parking = runtime === 'runsc' ? `, ${parkingSummary(supportsCheckpoint(info, runtime))}` : ''
  const release = `Docker ${version.Version} (API ${version.ApiVersion})`
  return `${release}, ${runtime ?? 'default runtime'}${parking}, ${isolation}`
}

function parkingSummary(isSupported: boolean): string {
  return isSupported
    ? 'waiting sandboxes are checkpointed to disk'
    : 'waiting sandboxes are removed and rebuilt ("experimental": true in daemon.json enables checkpoints)'
}
