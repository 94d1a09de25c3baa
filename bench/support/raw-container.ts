import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import Dockerode from 'dockerode'
import { defaultLimits } from '../../dist/common/run/limits.js'
import { containerCreateOptions } from '../../dist/sandbox/docker/container/container-create-options.js'

const seccomp = JSON.stringify(
  JSON.parse(readFileSync(new URL('../../runner/image/seccomp.json', import.meta.url), 'utf8')),
)

/** The create options of a sandbox, without its labels. */
export function rawContainerBody(image: string) {
  const labels = { 'ptc.namespace': 'ptc-bench' }
  return containerCreateOptions({ image, userId: 100_000, labels, language: 'python', limits: defaultLimits, seccomp })
}

/**
 * Reference for opening a session: creates a container with the same options, attaches, starts it, and waits for the
 * first output of its Python. Returns the milliseconds, without those of its removal.
 */
export async function timeRawContainer(image: string): Promise<number> {
  const start = performance.now()
  const container = await startRawContainer(image)
  const duration = performance.now() - start
  await container.remove()
  return duration
}

export interface RawContainer {
  readonly name: string
  remove(): Promise<void>
}

/**
 * Starts a container with a Python that waits for input.
 *
 * @param options of Python
 */
export async function startRawContainer(image: string, options: readonly string[] = []): Promise<RawContainer> {
  const name = `ptc-bench-raw-${randomUUID()}`
  const Entrypoint = ['/usr/bin/python3', ...options, '-c', 'print("ready", flush=True); input()']
  const container = await new Dockerode().createContainer({ name, ...rawContainerBody(image), Entrypoint })
  const remove = async (): Promise<void> => {
    await container.remove({ force: true, v: true })
  }
  try {
    const stream = await container.attach({ stream: true, stdout: true })
    await container.start()
    await once(stream, 'data')
    return { name, remove }
  } catch (thrown) {
    await remove()
    throw thrown
  }
}
