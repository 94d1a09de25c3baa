import type { SandboxBackend, SandboxConnection, SandboxEnd, SandboxId } from '../../src/sandbox/backend.js'
import { deferred } from '../../src/common/async/deferred.js'
import { FrameDecoder, hostFrameBytes, parseFrame } from '../../src/sandbox/protocol/frames.js'
import { type RunnerMessage, runnerMessageSchema } from '../../src/sandbox/protocol/messages.js'

/** A sandbox whose runner has just sent a message, for a fault of a mode. */
export interface FaultTarget {
  readonly id: SandboxId
  /** Removes the sandbox; the engine notices after it has received the last message. */
  destroy(): Promise<void>
  /** Breaks the connection; the sandbox keeps running. */
  disconnect(): Promise<void>
}

/** The action of a mode when a runner sends messages. */
export interface BackendFault {
  /** Called before the engine receives the message. */
  before?(message: RunnerMessage, target: FaultTarget): Promise<void>
  /** Called after the engine has received the messages. */
  after?(messages: readonly RunnerMessage[], target: FaultTarget): Promise<void>
}

/** Wraps a backend and injects the fault into its connections. */
export function injectBackendFault<Backend extends SandboxBackend>(backend: Backend, fault: BackendFault): Backend {
  const watch = (connection: SandboxConnection, id: SandboxId): SandboxConnection => {
    const destroy = (): Promise<void> => backend.remove(id)
    return new FaultInjectingConnection(connection, fault, { id, destroy, disconnect: () => connection.detach() })
  }
  const replaced: Partial<SandboxBackend> = {
    open: async (spec, signal) => watch(await backend.open(spec, signal), spec),
    async attach(id, signal) {
      const connection = await backend.attach(id, signal)
      return connection && watch(connection, id)
    },
  }
  return new Proxy(backend, {
    get(target, key) {
      if (key in replaced) return Reflect.get(replaced, key) as unknown
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

class FaultInjectingConnection implements SandboxConnection {
  readonly received: AsyncIterable<Uint8Array>
  readonly ended: Promise<SandboxEnd>
  readonly #inner: SandboxConnection
  readonly #decoder = new FrameDecoder(hostFrameBytes, { resume: true })
  /** Settles when the engine has received the current messages. */
  #delivered = Promise.resolve()

  constructor(inner: SandboxConnection, fault: BackendFault, target: FaultTarget) {
    this.#inner = inner
    this.received = this.#receive(fault, target)
    this.ended = inner.ended.then(async (end) => {
      await this.#delivered
      return end
    })
  }

  get description(): string {
    return this.#inner.description
  }

  send(bytes: Uint8Array): Promise<void> {
    return this.#inner.send(bytes)
  }

  interrupt(): Promise<boolean> {
    return this.#inner.interrupt()
  }

  kill(): Promise<void> {
    return this.#inner.kill()
  }

  detach(): Promise<void> {
    return this.#inner.detach()
  }

  async *#receive(fault: BackendFault, target: FaultTarget): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.#inner.received) {
      const messages = this.#messages(chunk)
      const delivery = deferred<void>()
      this.#delivered = delivery.promise
      try {
        for (const message of messages) await fault.before?.(message, target)
        // The engine requests more after it has processed this chunk.
        yield chunk
      } finally {
        delivery.resolve()
      }
      if (messages.length > 0) await fault.after?.(messages, target)
    }
  }

  /** The complete messages so far. The engine handles invalid ones. */
  #messages(chunk: Uint8Array): RunnerMessage[] {
    try {
      return this.#decoder.push(chunk).flatMap((frame) => runnerMessageSchema.safeParse(parseFrame(frame)).data ?? [])
    } catch {
      return []
    }
  }
}
