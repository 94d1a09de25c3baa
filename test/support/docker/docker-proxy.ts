import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Deferred } from '../tools.js'

interface ProxiedConnection {
  readonly client: Socket
  /** The beginning of the last request. A client reuses its connections. */
  request: string
}

/**
 * A proxy between a worker and its Docker daemon, which can delay requests and break connections. Invariant: a client
 * sends its next request on a connection only after the response to the last one.
 */
export class DockerProxy {
  readonly #server: Server
  readonly #connections: ProxiedConnection[] = []
  readonly #sockets = new Set<Socket>()
  readonly #folder: string
  readonly #daemonSocket = (process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock').replace('unix://', '')
  readonly #blocked = new Deferred()
  #blockedRequest: RegExp | undefined
  #delayedWrites: (() => void)[] = []
  #isUnresponsive = false

  private constructor(folder: string) {
    this.#folder = folder
    this.#server = createServer((client) => this.#onClient(client))
  }

  static async start(): Promise<DockerProxy> {
    const proxy = new DockerProxy(await mkdtemp(join(tmpdir(), 'ptc-proxy-')))
    proxy.#server.listen(proxy.#path)
    await once(proxy.#server, 'listening')
    return proxy
  }

  /** The value of DOCKER_HOST for a client that uses the proxy. */
  get host(): string {
    return `unix://${this.#path}`
  }

  /** Runs `work` with DOCKER_HOST set to the proxy. */
  async withDockerHost<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = process.env['DOCKER_HOST']
    process.env['DOCKER_HOST'] = this.host
    try {
      return await work()
    } finally {
      if (before === undefined) delete process.env['DOCKER_HOST']
      else process.env['DOCKER_HOST'] = before
    }
  }

  /** Delays requests that match (`POST /…`), until {@link release}. */
  block(request: RegExp): void {
    this.#blockedRequest = request
  }

  /** Resolves when a request is delayed. */
  get blocked(): Promise<void> {
    return this.#blocked.promise
  }

  /** Sends the delayed requests, and stops delaying. */
  release(): void {
    this.#blockedRequest = undefined
    for (const write of this.#delayedWrites.splice(0)) write()
  }

  /** Breaks the open connections whose last request matches, and returns their number. */
  dropConnections(request: RegExp): number {
    const matching = this.#connections.filter(({ client, request: last }) => !client.destroyed && request.test(last))
    for (const { client } of matching) client.destroy()
    return matching.length
  }

  /** Accepts new connections, but never responds on them. */
  stopResponding(): void {
    this.#isUnresponsive = true
  }

  /** Breaks all connections and accepts no new ones, like a dead daemon. */
  async shutDown(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    if (!this.#server.listening) return
    this.#server.close()
    await once(this.#server, 'close')
  }

  async close(): Promise<void> {
    this.release()
    await this.shutDown()
    await rm(this.#folder, { recursive: true, force: true })
  }

  get #path(): string {
    return join(this.#folder, 'docker.sock')
  }

  #onClient(client: Socket): void {
    this.#track(client)
    if (!this.#isUnresponsive) this.#forward(client)
  }

  #forward(client: Socket): void {
    const daemon = connect(this.#daemonSocket)
    this.#track(daemon)
    const connection: ProxiedConnection = { client, request: '' }
    this.#connections.push(connection)
    daemon.pipe(client)
    daemon.on('close', () => client.destroy())
    client.on('close', () => daemon.destroy())
    client.on('end', () => daemon.end())
    client.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1')
      if (/^(GET|POST|DELETE) /.test(text)) connection.request = text.slice(0, 200)
      // The chunk is one request: see the invariant.
      if (this.#blockedRequest?.test(text) === true) {
        this.#delayedWrites.push(() => daemon.write(chunk))
        this.#blocked.resolve()
      } else daemon.write(chunk)
    })
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => undefined)
  }
}
