import type { SandboxConnection, SandboxEnd } from '../../../src/sandbox/backend.js'
import { deferred } from '../../../src/common/async/deferred.js'
import { encodeFrame, FrameDecoder, parseFrame } from '../../../src/sandbox/protocol/frames.js'
import type { HostMessage } from '../../../src/sandbox/protocol/messages.js'

/** The content of a frame of the host. */
function parseHostMessage(body: Uint8Array): HostMessage {
  const lineEnd = body.indexOf(0x0a)
  const fields = parseFrame(lineEnd < 0 ? body : body.subarray(0, lineEnd)) as HostMessage
  return fields.type === 'value' ? { ...fields, text: body.subarray(lineEnd + 1) } : fields
}

/** A sandbox connection that sends the messages of a test. */
export class HostileRunner implements SandboxConnection {
  readonly description = 'hostile'
  /** Messages from the host. */
  readonly hostMessages: HostMessage[] = []
  killed = false
  readonly #end = deferred<SandboxEnd>()
  readonly ended = this.#end.promise
  readonly #decoder = new FrameDecoder(2 ** 24 - 1)
  readonly #stream = new TransformStream<Uint8Array, Uint8Array>(undefined, { highWaterMark: 1_000_000 })
  readonly #writer = this.#stream.writable.getWriter()
  readonly received = this.#stream.readable
  onMessage: (type: HostMessage['type']) => void = () => undefined
  interruptible = false
  /** Settles when the runner can accept more input. */
  sendCapacity: Promise<void> = Promise.resolve()

  send(bytes: Uint8Array): Promise<void> {
    const messages = this.#decoder.push(bytes).map(parseHostMessage)
    this.hostMessages.push(...messages)
    for (const { type } of messages) this.onMessage(type)
    return this.sendCapacity
  }

  emit(message: unknown): void {
    this.emitBytes(encodeFrame(message, 2 ** 24 - 1))
  }

  emitBytes(bytes: Uint8Array): void {
    this.#writer.write(bytes).catch(() => undefined)
  }

  end(end: Partial<SandboxEnd>): void {
    this.#end.resolve({ reason: 'exited', exitCode: 1, diagnostics: '', ...end })
  }

  interrupt = (): Promise<boolean> => Promise.resolve(this.interruptible)

  kill(): Promise<void> {
    this.killed = true
    return Promise.resolve()
  }

  detach = (): Promise<void> => Promise.resolve()
}
