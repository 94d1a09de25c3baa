import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Happening } from './tools.js'

const daemon = '/var/run/docker.sock'

/** Between a worker and its Docker daemon: lets everything through, until it is told to keep requests of a kind waiting. */
export class DockerGate {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #folder: string
  #kind: RegExp | undefined
  #waiting: (() => void)[] = []
  readonly #hit = new Happening()

  private constructor(folder: string) {
    this.#folder = folder
    this.#server = createServer((client) => this.#serve(client))
  }

  static async open(): Promise<DockerGate> {
    const gate = new DockerGate(await mkdtemp(join(tmpdir(), 'ptc-gate-')))
    gate.#server.listen(gate.#path)
    await once(gate.#server, 'listening')
    return gate
  }

  /** Runs what reads `DOCKER_HOST`, so that it talks through the gate. */
  async lead<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = process.env['DOCKER_HOST']
    process.env['DOCKER_HOST'] = `unix://${this.#path}`
    try {
      return await work()
    } finally {
      if (before === undefined) delete process.env['DOCKER_HOST']
      else process.env['DOCKER_HOST'] = before
    }
  }

  /** From now on, requests of this kind (`POST /…`) wait. */
  hold(kind: RegExp): void {
    this.#kind = kind
  }

  /** Settles when a request waits. */
  get hit(): Promise<void> {
    return this.#hit.happened
  }

  /** All that waited goes on, and nothing waits any more. */
  release(): void {
    this.#kind = undefined
    for (const goOn of this.#waiting.splice(0)) goOn()
  }

  async close(): Promise<void> {
    this.release()
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
    await rm(this.#folder, { recursive: true, force: true })
  }

  get #path(): string {
    return join(this.#folder, 'docker.sock')
  }

  #serve(client: Socket): void {
    const upstream = connect(daemon)
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
      socket.on('error', () => undefined)
    }
    upstream.pipe(client)
    upstream.on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
    client.on('end', () => upstream.end())
    client.on('data', (piece: Buffer) => {
      // A client sends no second request on a connection before the first is answered.
      if (this.#kind?.test(piece.toString('latin1')) === true) {
        this.#waiting.push(() => upstream.write(piece))
        this.#hit.happen()
      } else upstream.write(piece)
    })
  }
}
