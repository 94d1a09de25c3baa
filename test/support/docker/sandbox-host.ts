import { NetworkProxy } from '../faults/network-proxy.js'
import { NetworkNamespace } from '../network/network-namespace.js'
import { PrivateDockerDaemon } from './private-daemon.js'

/**
 * A machine for sandboxes, as far as one machine can be two: a network namespace with a link, and a Docker daemon with
 * its own images, processes and mounts. Both machines have the same kernel, clock and disk. Needs root.
 */
export class SandboxHost {
  readonly network: NetworkNamespace
  readonly daemon: PrivateDockerDaemon
  readonly #proxies: NetworkProxy[] = []

  private constructor(network: NetworkNamespace, daemon: PrivateDockerDaemon) {
    this.network = network
    this.daemon = daemon
  }

  static async start(): Promise<SandboxHost> {
    const network = NetworkNamespace.create()
    try {
      return new SandboxHost(network, await PrivateDockerDaemon.start({ machine: network }))
    } catch (thrown) {
      network.remove()
      throw thrown
    }
  }

  /** Makes a server of this machine reachable, and returns its address on the other side of the link. */
  async reach(server: string): Promise<string> {
    const proxy = await NetworkProxy.start(server, this.network.gateway)
    this.#proxies.push(proxy)
    return proxy.address
  }

  /** The machine loses power: nobody gets a message that its connections have ended. */
  async kill(): Promise<void> {
    this.network.cut()
    await this.daemon.kill()
  }

  async startProcess(): Promise<void> {
    await this.daemon.startProcess()
    this.network.mend()
  }

  async close(): Promise<void> {
    await this.daemon.close()
    await Promise.all(this.#proxies.map((proxy) => proxy.close()))
    this.network.remove()
  }
}
