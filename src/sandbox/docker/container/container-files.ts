import { archiveOf } from '../../files-archive.js'
import { filesRoot, type SandboxFiles } from '../../sandbox-files.js'
import type { DockerEngine } from '../engine/docker-engine.js'

/** Longer than the transfer of the largest set of files to a daemon behind a slow network takes. */
const timeoutMs = 50_000

/**
 * Puts files into the volume of a container that has not started. Repeats do no harm: each writes the same.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE
 */
export async function putFiles(
  engine: DockerEngine,
  container: string,
  files: SandboxFiles,
  signal: AbortSignal | undefined,
): Promise<void> {
  const archive = await archiveOf(files, { root: true })
  const action = `put files into container ${container.slice(0, 12)}`
  await engine.call({ action, signal, timeoutMs }, (docker, abortSignal) =>
    docker.getContainer(container).putArchive(archive, { path: filesRoot, abortSignal }),
  )
}
