import Dockerode from 'dockerode'
import { createDockerBackend } from '../../../src/sandbox/docker/index.js'
import { messageOf } from '../../../src/common/errors.js'
import { requirementOf } from '../setup/optional-dependency.js'

/** `absent`: there is no daemon. `off`: the tests must not use one (PTC_TEST_DOCKER=off). */
export type DockerState = 'available' | 'absent' | 'off'

const pingMs = 60_000

/** The image that `.ci/run` creates on a machine without access to a registry. */
const localBase = 'durable-ptc-base:bookworm'
const localNode = 'durable-ptc-node:24'

/**
 * Looks for a Docker daemon, as PTC_TEST_DOCKER requires, and builds the sandbox image if it is missing.
 *
 * @throws Error when Docker is required and can't be used
 */
export async function prepareDocker(report: (line: string) => void): Promise<DockerState> {
  const mode = requirementOf('PTC_TEST_DOCKER')
  if (mode === 'off') {
    report('Docker is off (PTC_TEST_DOCKER=off): the tests that need it are skipped')
    return 'off'
  }
  const problem = await dockerProblem(report)
  if (problem === undefined) return 'available'
  if (mode === 'required') throw new Error(`Docker is required (PTC_TEST_DOCKER=required), but ${problem}`)
  report(`${problem}: the tests that need Docker are skipped (PTC_TEST_DOCKER=required makes this an error)`)
  return 'absent'
}

async function dockerProblem(report: (line: string) => void): Promise<string | undefined> {
  const daemon = new Dockerode({ timeout: pingMs })
  try {
    await daemon.ping()
  } catch (error) {
    return `no Docker daemon answers (${messageOf(error)})`
  }
  await preferLocalBase(daemon)
  const backend = createDockerBackend()
  try {
    const { image, built } = await backend.ensureImage({ onProgress: buildStepsOnly(report) })
    if (built) report(`built the sandbox image ${image}`)
    return undefined
  } catch (error) {
    return `the sandbox image can't be built (${messageOf(error)})`
  } finally {
    await backend.close()
  }
}

/** Sets the base image for tests too: some build images. */
async function preferLocalBase(daemon: Dockerode): Promise<void> {
  if (process.env['PTC_BASE_IMAGE'] !== undefined) return
  const exists = await daemon
    .getImage(localBase)
    .inspect()
    .then(() => true)
    .catch(() => false)
  if (!exists) return
  process.env['PTC_BASE_IMAGE'] = localBase
  process.env['PTC_NODE_IMAGE'] ??= localNode
  process.env['PTC_BUILD_NETWORK'] ??= 'host'
}

/** Reports the steps of a build, without the hundreds of lines of the package manager. */
function buildStepsOnly(report: (line: string) => void): (line: string) => void {
  return (line) => {
    if (line.startsWith('Step ')) report(`sandbox image: ${line}`)
  }
}
