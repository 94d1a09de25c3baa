import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import Dockerode from 'dockerode'
import { rawContainerBody } from './raw-container.js'

/** A program in a container with the options of a sandbox. It sends back each line that it gets. */
export interface RawEcho {
  /** The name of its container. */
  readonly name: string
  /** Sends lines, one after the other, and returns the milliseconds of one. */
  timeLines(count: number): Promise<number>
  remove(): Promise<void>
}

/** About as long as the frames of a call and of its result. */
const line = `${'x'.repeat(250)}\n`

/** @param command must print a line when it is ready */
export async function startRawEcho(image: string, command: readonly string[]): Promise<RawEcho> {
  const name = `ptc-bench-echo-${randomUUID()}`
  const docker = new Dockerode()
  const container = await docker.createContainer({ name, ...rawContainerBody(image), Entrypoint: [...command] })
  const remove = async (): Promise<void> => {
    await container.remove({ force: true, v: true })
  }
  try {
    const stream = await container.attach({ stream: true, stdin: true, stdout: true, hijack: true })
    await container.start()
    await once(stream, 'data')
    return {
      name,
      async timeLines(count) {
        const begin = performance.now()
        for (let sent = 0; sent < count; sent += 1) {
          const answer = once(stream, 'data')
          stream.write(line)
          await answer
        }
        return (performance.now() - begin) / count
      },
      remove,
    }
  } catch (thrown) {
    await remove()
    throw thrown
  }
}
