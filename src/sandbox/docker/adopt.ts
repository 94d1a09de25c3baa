import { setTimeout as sleep } from 'node:timers/promises'
import { PtcError } from '../../common/errors.js'
import type { SandboxId } from '../backend.js'
import { hasCheckpoint } from './checkpoint.js'
import type { DockerEngine } from './engine.js'
import { identityOf, isSame, sandboxName } from './identity.js'
import { listContainers } from './list-containers.js'

export interface FoundContainer {
  /** Container id. */
  readonly container: string
  readonly name: string
  readonly state: ContainerState | 'ended' | 'foreign'
}

/**
 * Of a container that can be connected to. `created`: made, but never started; `parked`: ended, with a checkpoint. (`foreign` is
 * what has the name but not the labels, and is not to be touched.)
 */
export type ContainerState = 'created' | 'running' | 'parked'

/** What has the name of a sandbox; undefined when nothing has. @throws PtcError SANDBOX_UNAVAILABLE */
export async function findContainer(
  engine: DockerEngine,
  id: SandboxId,
  signal?: AbortSignal,
): Promise<FoundContainer | undefined> {
  const name = sandboxName(id)
  // What follows the dot is not known here; the daemon's filter is a pattern that may match anywhere.
  const named = await listContainers(engine, { name: [name.replaceAll('.', '\\.')] }, signal)
  const found = named.find((container) => container.name.startsWith(`${name}.`))
  if (found === undefined) return undefined
  const identity = identityOf(found.name, found.labels)
  const { id: container } = found
  if (identity === undefined || !isSame(identity.id, id)) return { container, name: found.name, state: 'foreign' }
  const state = lifeOf(found.state)
  const isParked = state === 'ended' && (await hasCheckpoint(engine, container, signal))
  return { container, name: found.name, state: isParked ? 'parked' : state }
}

function lifeOf(state: string): 'created' | 'running' | 'ended' {
  if (state === 'created') return 'created'
  return ['running', 'paused', 'restarting'].includes(state) ? 'running' : 'ended'
}

/** Removal under way takes a moment, during which the name is still taken. */
const pauseMs = 50

/**
 * The container of a sandbox, not ended: an existing one, or one made by `create`, which answers undefined when somebody
 * else was faster. The leftover of an ended one is removed first.
 */
export async function findOrCreate(
  engine: DockerEngine,
  id: SandboxId,
  create: () => Promise<string | undefined>,
  signal: AbortSignal,
): Promise<{ readonly container: string; readonly state: ContainerState; readonly isMine: boolean }> {
  for (;;) {
    const container = await create()
    if (container !== undefined) return { container, state: 'created', isMine: true }
    const found = await findContainer(engine, id, signal)
    if (found?.state === 'foreign') throw nameTaken(found.name)
    if (found !== undefined && found.state !== 'ended') {
      return { container: found.container, state: found.state, isMine: false }
    }
    if (found !== undefined) await engine.remove(found.container)
    await sleep(pauseMs, undefined, { signal })
  }
}

function nameTaken(name: string): PtcError {
  return new PtcError('SANDBOX_NAME_TAKEN', `a container that is not ours has the name ${name}`, {
    hint: `See \`docker inspect ${name}\`; remove or rename it if it is not needed.`,
  })
}
