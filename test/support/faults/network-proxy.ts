import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { Transform } from 'node:stream'
import { callbackify } from 'node:util'

/** A TCP proxy between a worker and a server, which can stall or reset connections. */
export class NetworkProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Resolved while bytes are forwarded. */
  #open: Promise<void> = Promise.resolve()
  #resume: () => void = () => undefined
  #isStalled = false
  #isDisconnected = false
  /** Number of connections, and of delayed chunks. */
  readonly stats = { connections: 0, delayed: 0 }

  private constructor(server: Server) {
    this.#server = server
  }

  /**
   * @param target host and port of the server
   * @param ip the address of this machine at which the proxy listens
   */
  static async start(target: string, ip = '127.0.0.1'): Promise<NetworkProxy> {
    const { hostname, port } = new URL(`tcp://${target}`)
    const server = createServer()
    const network = new NetworkProxy(server)
    server.on('connection', (client) => network.#forward(client, connect(Number(port), hostname)))
    server.listen(0, ip)
    await once(server, 'listening')
    return network
  }

  get address(): string {
    const { address, port } = this.#server.address() as AddressInfo
    return `${address}:${port}`
  }

  /** Delays all bytes in both directions, without an error and without loss. */
  stall(): void {
    this.#isStalled = true
    this.#open = new Promise((letThrough) => (this.#resume = letThrough))
  }

  /** Forwards the delayed bytes, and stops delaying. */
  resume(): void {
    this.#isStalled = false
    this.#resume()
  }

  /** Resets all connections, and new ones until {@link reconnect}. */
  disconnect(): void {
    this.#isDisconnected = true
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  reconnect(): void {
    this.#isDisconnected = false
  }

  async close(): Promise<void> {
    this.disconnect()
    this.resume()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #forward(client: Socket, server: Socket): void {
    this.stats.connections += 1
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(this.#delay()).pipe(other)
    }
    if (this.#isDisconnected) client.resetAndDestroy()
  }

  #delay(): Transform {
    return new Transform({
      transform: callbackify(async (piece: Buffer, _encoding: BufferEncoding) => {
        if (this.#isStalled) this.stats.delayed += 1
        await this.#open
        return piece
      }),
    })
  }
}
