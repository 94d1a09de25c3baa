import type { SandboxConnection } from '../../../src/sandbox/backend.js'
import { encodeMessage, FrameDecoder, hostFrameBytes, parseFrame } from '../../../src/sandbox/protocol/frames.js'
import { type HostMessage, type RunnerMessage, runnerMessageSchema } from '../../../src/sandbox/protocol/messages.js'

/** Sends and receives single messages of the step protocol, without the session driver. */
export class ProtocolClient {
  readonly #connection: SandboxConnection
  readonly #frames: AsyncGenerator

  constructor(connection: SandboxConnection) {
    this.#connection = connection
    this.#frames = readFrames(connection)
  }

  async send(message: HostMessage): Promise<void> {
    await this.#connection.send(Buffer.concat(encodeMessage(message)))
  }

  /** Reads the next message that is not about a running cell. */
  async readResponse(): Promise<RunnerMessage> {
    for (;;) {
      const { value, done } = await this.#frames.next()
      if (done) throw new Error(`the sandbox ended: ${JSON.stringify(await this.#connection.ended)}`)
      const message = runnerMessageSchema.parse(value)
      if (message.type !== 'output' && message.type !== 'interrupted') return message
    }
  }
}

export async function* readFrames(connection: SandboxConnection): AsyncGenerator {
  const decoder = new FrameDecoder(hostFrameBytes)
  for await (const chunk of connection.received) yield* decoder.push(chunk).map(parseFrame)
}
