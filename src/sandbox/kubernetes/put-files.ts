import { PtcError } from '../../common/errors.js'
import { archiveOf } from '../files-archive.js'
import { openResumable } from '../resumable/index.js'
import type { SandboxFiles } from '../sandbox-files.js'
import { attachTo } from './cluster/attach.js'
import type { Cluster } from './cluster/cluster.js'
import { awaitPod } from './isolation.js'
import { containerNames } from './pod/pod-spec.js'
import { stateOf } from './sandbox-pods.js'

/**
 * Sends the files of a session to the first container of a new pod, which ends then. The folder of the files is
 * read-only in the container of the runner, which starts after it.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE and others; the reason of the signal
 */
export async function putFiles(
  cluster: Cluster,
  name: string,
  files: SandboxFiles,
  startMs: number,
  signal: AbortSignal,
): Promise<void> {
  const archive = await archiveOf(files, { root: false })
  const isThere = ['receiving', 'running', 'ended']
  const state = await awaitPod(
    cluster,
    name,
    startMs,
    (found) => (isThere.includes(found.type) ? found : undefined),
    signal,
  )
  if (state.type !== 'receiving') return
  const { uid } = state
  const connection = await openResumable(
    {
      description: `files of pod ${name}`,
      dial: (handlers, dialSignal) =>
        attachTo(cluster, { pod: name, container: containerNames.files }, handlers, dialSignal),
      findEnd: async () => {
        const { type } = await stateOf(cluster, { name, uid })
        return type === 'receiving' ? 'running' : { reason: 'exited', exitCode: null, diagnostics: '' }
      },
      kill: () => cluster.delete(name, uid),
    },
    signal,
  )
  try {
    const length = Buffer.alloc(8)
    length.writeBigUInt64BE(BigInt(archive.length))
    await connection.send(Buffer.concat([length, archive]))
    // Output is not expected, and must be read.
    for await (const _ of connection.received);
    signal.throwIfAborted()
    const { exitCode, diagnostics } = await connection.ended
    // A pod that has none of its files does not start its runner.
    if (exitCode !== 0 && exitCode !== null)
      throw new PtcError('SANDBOX_UNAVAILABLE', `the files did not get into pod ${name}: ${diagnostics}`)
  } finally {
    await connection.detach()
  }
}
