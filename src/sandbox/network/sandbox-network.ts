import type { Fence, NetworkMessage, RunnerNetworkMessage } from '../protocol/messages.js'
import type { NetworkAccess } from './access.js'
import { EgressProxy, type EgressProxyOptions } from './egress-proxy.js'
import { Tunnel } from './tunnel.js'

/**
 * The network of one sandbox, over one attachment to it: its connections live as long as the attachment. Without the
 * access of a step there is none, and messages about connections are ignored.
 */
export class SandboxNetwork {
  readonly #tunnel: Tunnel
  readonly #options: EgressProxyOptions
  #proxy: EgressProxy | undefined

  /** @param send settles when the connection to the sandbox has room for more; never rejects */
  constructor(send: (message: NetworkMessage) => Promise<unknown>, options: EgressProxyOptions) {
    this.#options = options
    this.#tunnel = new Tunnel({ send, onConnection: (connection) => this.#proxy?.accept(connection) })
  }

  /** Whether the sandbox may send messages about connections at any time. */
  get isOpen(): boolean {
    return this.#proxy !== undefined
  }

  /** Sets what code may do from now on. Undefined: no change. */
  use(access: NetworkAccess | undefined): void {
    if (access === undefined) return
    this.#proxy ??= new EgressProxy(this.#options)
    this.#proxy.use(access)
  }

  /** Called before the worker says hello with this fence. */
  start(fence: Fence): void {
    this.#tunnel.start(fence)
  }

  receive(message: RunnerNetworkMessage): void {
    if (this.isOpen) this.#tunnel.receive(message)
  }

  /** Resets all connections. Idempotent. */
  close(): void {
    this.#tunnel.close()
  }
}
