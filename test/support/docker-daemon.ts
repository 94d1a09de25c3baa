import Dockerode from 'dockerode'
import { createDockerBackend } from '../../src/sandbox/docker/index.js'
import { messageOf } from '../../src/common/errors.js'

/** `absent`: wanted if there is one, and there is none. `off`: not wanted (PTC_TEST_DOCKER=off). */
export type DockerState = 'available' | 'absent' | 'off'

const modes = ['required', 'auto', 'off'] as const
const pingMs = 60_000

/** What `.ci/run` makes where no registry can be reached. */
const localBase = 'durable-ptc-base:bookworm'

/**
 * Looks for a Docker daemon as PTC_TEST_DOCKER says, and makes sure that the sandbox image is there.
 *
 * @throws Error when Docker is required and can't be used
 */
export async function prepareDocker(tell: (line: string) => void): Promise<DockerState> {
  const mode = dockerMode()
  if (mode === 'off') {
    tell('Docker is off (PTC_TEST_DOCKER=off): the tests that need it are skipped')
    return 'off'
  }
  const problem = await dockerProblem(tell)
  if (problem === undefined) return 'available'
  if (mode === 'required') throw new Error(`Docker is required (PTC_TEST_DOCKER=required), but ${problem}`)
  tell(`${problem}: the tests that need Docker are skipped (PTC_TEST_DOCKER=required makes this an error)`)
  return 'absent'
}

function dockerMode(): (typeof modes)[number] {
  const wanted = process.env['PTC_TEST_DOCKER'] ?? 'auto'
  const mode = modes.find((known) => known === wanted)
  if (mode === undefined) throw new Error(`PTC_TEST_DOCKER is ${wanted}; it can be ${modes.join(', ')}`)
  return mode
}

async function dockerProblem(tell: (line: string) => void): Promise<string | undefined> {
  const daemon = new Dockerode({ timeout: pingMs })
  try {
    await daemon.ping()
  } catch (error) {
    return `no Docker daemon answers (${messageOf(error)})`
  }
  await preferLocalBase(daemon)
  const backend = createDockerBackend()
  try {
    const { image, built } = await backend.ensureImage({ onProgress: stepsOnly(tell) })
    if (built) tell(`built the sandbox image ${image}`)
    return undefined
  } catch (error) {
    return `the sandbox image can't be had (${messageOf(error)})`
  } finally {
    await backend.close()
  }
}

/** Set for the tests too: some build images of their own. */
async function preferLocalBase(daemon: Dockerode): Promise<void> {
  if (process.env['PTC_BASE_IMAGE'] !== undefined) return
  const there = await daemon
    .getImage(localBase)
    .inspect()
    .then(() => true)
    .catch(() => false)
  if (!there) return
  process.env['PTC_BASE_IMAGE'] = localBase
  process.env['PTC_BUILD_NETWORK'] ??= 'host'
}

/** Of a build's log the lines that say where it is, not the hundreds of the package manager. */
function stepsOnly(tell: (line: string) => void): (line: string) => void {
  return (line) => {
    if (line.startsWith('Step ')) tell(`sandbox image: ${line}`)
  }
}
