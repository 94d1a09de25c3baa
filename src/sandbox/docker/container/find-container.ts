import { setTimeout as sleep } from 'node:timers/promises'
import { PtcError } from '../../../common/errors.js'
import { isSameSandbox, type SandboxId } from '../../backend.js'
import type { DockerEngine } from '../engine/docker-engine.js'
import { type ConnectableState, type ContainerState, readContainerState } from './container-state.js'
import { labelKeys, parseIdentity, sandboxName } from './sandbox-identity.js'
import { listContainers } from './list-containers.js'

interface FoundContainer {
  readonly containerId: string
  readonly name: string
  /** `foreign`: the container has the name of the sandbox but not its labels, and must not be touched. */
  readonly state: ContainerState | 'foreign'
  /** The digest of the files that it gets before its first start. Undefined: none. */
  readonly files: string | undefined
  /** The id of its image. */
  readonly image: string
}

/**
 * Finds the container with the name of a sandbox; undefined when there is none.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE
 */
export async function findContainer(
  engine: DockerEngine,
  id: SandboxId,
  signal?: AbortSignal,
): Promise<FoundContainer | undefined> {
  const name = sandboxName(id)
  // The part after the dot is unknown here. The daemon's filter is a pattern that may match anywhere in the name.
  const named = await listContainers(engine, { name: [name.replaceAll('.', '\\.')] }, signal)
  const found = named.find((container) => container.name.startsWith(`${name}.`))
  if (found === undefined) return undefined
  const identity = parseIdentity(found.name, found.labels)
  const isForeign = identity === undefined || !isSameSandbox(identity.id, id)
  const state = isForeign ? 'foreign' : await readContainerState(engine, found, signal)
  return { containerId: found.id, name: found.name, state, files: found.labels[labelKeys.files], image: found.image }
}

type CreatedContainer = Pick<FoundContainer, 'containerId' | 'image'>

/** Pause before a retry. While a container is being removed, its name stays taken for a moment. */
const retryDelayMs = 50

/**
 * Returns the container of a sandbox in a connectable state: an existing one, or one made by `create`, which returns
 * undefined when the name is taken. Removes an exited container of that name first.
 */
export async function findOrCreateContainer(
  engine: DockerEngine,
  id: SandboxId,
  create: () => Promise<CreatedContainer | undefined>,
  signal: AbortSignal,
): Promise<CreatedContainer & { readonly state: ConnectableState; readonly created: boolean }> {
  for (;;) {
    const container = await create()
    if (container !== undefined) return { ...container, state: 'created', created: true }
    const found = await findContainer(engine, id, signal)
    if (found?.state === 'foreign') throw nameTakenError(found.name)
    if (found !== undefined && found.state !== 'exited') {
      const { containerId, image, state } = found
      return { containerId, image, state, created: false }
    }
    if (found !== undefined) await engine.remove(found.containerId)
    await sleep(retryDelayMs, undefined, { signal })
  }
}

function nameTakenError(name: string): PtcError {
  return new PtcError('SANDBOX_NAME_TAKEN', `a container that is not of durable-ptc has the name ${name}`, {
    hint: `See \`docker inspect ${name}\`; remove or rename it if it is not needed.`,
  })
}
