import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import Dockerode from 'dockerode'
import { rawContainerBody } from './raw-container.js'

/**
 * Reference for sending a value: sends the same number of bytes through the same daemon's attach to `head` in a
 * container with the same options. Returns the milliseconds from the first byte to the confirmation.
 */
export async function timeRawPipe(image: string, bytes: number): Promise<number> {
  const docker = new Dockerode()
  const Entrypoint = ['/bin/sh', '-c', `echo ready; head -c ${bytes} >/dev/null; echo done`]
  const container = await docker.createContainer({
    name: `ptc-bench-pipe-${randomUUID()}`,
    ...rawContainerBody(image),
    Entrypoint,
  })
  try {
    const stream = await container.attach({ stream: true, stdin: true, stdout: true, hijack: true })
    await container.start()
    await once(stream, 'data')
    const chunk = Buffer.alloc(256 * 1024, 'x')
    const over = once(stream, 'data')
    const begin = performance.now()
    for (let sent = 0; sent < bytes; sent += chunk.length) {
      await new Promise((resolve) => stream.write(chunk.subarray(0, bytes - sent), resolve))
    }
    await over
    return performance.now() - begin
  } finally {
    await container.remove({ force: true, v: true })
  }
}
