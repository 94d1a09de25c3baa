import { once } from 'node:events'
import { type AddressInfo, createServer, connect, type Server, type Socket } from 'node:net'
import { Transform } from 'node:stream'

/** A proxy that forwards the server's responses slowly, or not at all. */
export class SlowProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket) => this.#sockets.add(socket))
  }

  /** @param pauseMs before each chunk of a response; undefined: no response */
  static async start(port: number, pauseMs: number | undefined): Promise<SlowProxy> {
    const server = createServer((client) => {
      client.on('error', () => undefined)
      if (pauseMs === undefined) {
        client.resume()
        return
      }
      const upstream = connect(port, '127.0.0.1')
      upstream.on('error', () => client.destroy())
      client.on('close', () => upstream.destroy())
      const slowly = new Transform({
        transform: (piece, _encoding, done) => void setTimeout(() => done(null, piece), pauseMs),
      })
      client.pipe(upstream)
      upstream.pipe(slowly).pipe(client)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new SlowProxy(server)
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((closed) => this.#server.close(closed))
  }
}
