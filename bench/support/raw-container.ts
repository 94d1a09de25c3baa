import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import Dockerode from 'dockerode'
import { defaultLimits } from '../../dist/common/limits.js'
import { containerCreateOptions } from '../../dist/sandbox/docker/container/container-create-options.js'

const seccomp = JSON.stringify(
  JSON.parse(readFileSync(new URL('../../runner/image/seccomp.json', import.meta.url), 'utf8')),
)

/** The create options of a sandbox, without its labels. */
export function rawContainerBody(image: string) {
  const labels = { 'ptc.namespace': 'ptc-bench' }
  return containerCreateOptions({ image, userId: 100_000, labels, limits: defaultLimits, seccomp })
}

/**
 * Reference for opening a session: creates a container with the same options, attaches, starts it, and waits for the
 * first output of its Python. Returns the milliseconds, without those of its removal.
 */
export async function timeRawContainer(image: string): Promise<number> {
  const docker = new Dockerode()
  const body = rawContainerBody(image)
  const start = performance.now()
  const Entrypoint = ['/usr/bin/python3', '-c', 'print("ready", flush=True); input()']
  const container = await docker.createContainer({ name: `ptc-bench-raw-${randomUUID()}`, ...body, Entrypoint })
  try {
    const stream = await container.attach({ stream: true, stdout: true })
    await container.start()
    await once(stream, 'data')
    return performance.now() - start
  } finally {
    await container.remove({ force: true, v: true })
  }
}
