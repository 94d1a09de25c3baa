import { setTimeout as sleep } from 'node:timers/promises'
import type { ContainerInspectInfo } from 'dockerode'
import { PtcError } from '../../common/errors.js'
import type { SandboxId } from '../backend.js'
import type { DockerEngine } from './engine.js'
import { containerName, isOurs } from './identity.js'

export interface FoundContainer {
  /** Container id. */
  readonly container: string
  /** `created`: made, but never started; `foreign`: has the name but not the labels, and is not to be touched. */
  readonly state: 'created' | 'running' | 'ended' | 'foreign'
}

/** What has the name of a sandbox; undefined when nothing has. @throws PtcError SANDBOX_UNAVAILABLE */
export async function findContainer(
  engine: DockerEngine,
  id: SandboxId,
  signal?: AbortSignal,
): Promise<FoundContainer | undefined> {
  const found = await engine.inspect(containerName(id), signal)
  return found === undefined ? undefined : { container: found.Id, state: stateOf(found, id) }
}

function stateOf({ Config, State }: ContainerInspectInfo, id: SandboxId): FoundContainer['state'] {
  // The labels are null when there are none, whatever the types say.
  if (!isOurs(Config.Labels ?? {}, id)) return 'foreign'
  if (State.Running) return 'running'
  return State.Status === 'created' ? 'created' : 'ended'
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
): Promise<{ readonly container: string; readonly state: 'created' | 'running' }> {
  for (;;) {
    const container = await create()
    if (container !== undefined) return { container, state: 'created' }
    const found = await findContainer(engine, id, signal)
    if (found?.state === 'foreign') throw nameTaken(containerName(id))
    if (found?.state === 'created' || found?.state === 'running') {
      return { container: found.container, state: found.state }
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
