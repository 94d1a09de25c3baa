import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import Dockerode from 'dockerode'
import { defaultLimits } from '../../dist/common/limits.js'
import { containerBody } from '../../dist/sandbox/docker/container-body.js'

const seccomp = JSON.stringify(
  JSON.parse(readFileSync(new URL('../../runner/image/seccomp.json', import.meta.url), 'utf8')),
)

/** What a sandbox is created with, but for whose it is. */
export function rawBody(image: string) {
  const labels = { 'ptc.owner': 'ptc-bench' }
  return containerBody({ image, userId: 100_000, labels, limits: defaultLimits, seccomp })
}

/**
 * What opening a session is measured against: a container made by hand with the very same body, attached to, started, and
 * ready once its Python has said something. Gives the milliseconds; removing it is not counted.
 */
export async function rawContainer(image: string): Promise<number> {
  const docker = new Dockerode()
  const body = rawBody(image)
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
