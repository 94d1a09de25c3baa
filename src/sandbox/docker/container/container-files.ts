import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { filesRoot, foldersOf, type SandboxFiles } from '../../sandbox-files.js'
import type { DockerEngine } from '../engine/docker-engine.js'

/** Everything belongs to root. The time is fixed, because equal files make equal sandboxes. */
const owner = { uid: 0, gid: 0, mtime: new Date(0) } as const

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
  const archive = await toArchive(files)
  const action = `put files into container ${container.slice(0, 12)}`
  await engine.call({ action, signal, timeoutMs }, (docker, abortSignal) =>
    docker.getContainer(container).putArchive(archive, { path: filesRoot, abortSignal }),
  )
}

/** Folders come first: a folder that a file implies would have the mode of the daemon's default. */
async function toArchive({ entries }: SandboxFiles): Promise<Buffer> {
  const archive = pack()
  const bytes = buffer(archive)
  archive.entry({ ...owner, name: '.', type: 'directory', mode: 0o755 })
  for (const folder of foldersOf(entries)) archive.entry({ ...owner, name: folder, type: 'directory', mode: 0o755 })
  for (const { path, content, isExecutable } of entries)
    archive.entry({ ...owner, name: path, type: 'file', mode: isExecutable ? 0o555 : 0o444 }, Buffer.from(content))
  archive.finalize()
  return bytes
}
