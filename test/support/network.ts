import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { Transform } from 'node:stream'
import { callbackify } from 'node:util'

/** The way from a worker to a server, which can be bad: silent for a while, or cut. */
export class Network {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Resolved while bytes get through. */
  #open: Promise<void> = Promise.resolve()
  #letThrough: () => void = () => undefined
  #isStalled = false
  #isCut = false
  /** Connections that were made, and pieces that had to wait. */
  readonly seen = { connections: 0, delayed: 0 }

  private constructor(server: Server) {
    this.#server = server
  }

  /** @param target host and port */
  static async start(target: string): Promise<Network> {
    const { hostname, port } = new URL(`tcp://${target}`)
    const server = createServer()
    const network = new Network(server)
    server.on('connection', (client) => network.#join(client, connect(Number(port), hostname)))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return network
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** From now on nothing gets through, in neither direction, and nobody is told; it is not lost either. */
  stall(): void {
    this.#isStalled = true
    this.#open = new Promise((letThrough) => (this.#letThrough = letThrough))
  }

  /** What was held up arrives, late. */
  goOn(): void {
    this.#isStalled = false
    this.#letThrough()
  }

  /** Every connection is reset, and so is each new one until it is mended. */
  cut(): void {
    this.#isCut = true
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  mend(): void {
    this.#isCut = false
  }

  async close(): Promise<void> {
    this.cut()
    this.goOn()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #join(client: Socket, server: Socket): void {
    this.seen.connections += 1
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
    if (this.#isCut) client.resetAndDestroy()
  }

  #delay(): Transform {
    return new Transform({
      transform: callbackify(async (piece: Buffer, _encoding: BufferEncoding) => {
        if (this.#isStalled) this.seen.delayed += 1
        await this.#open
        return piece
      }),
    })
  }
}
