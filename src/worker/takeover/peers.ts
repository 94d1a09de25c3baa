import { randomUUID } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { makeFolderSync } from '../../platform/make-folder.js'

const socketSuffix = '.sock'

/** Maximum bytes of the path of a Unix socket on macOS. */
export const maxSocketPathBytes = 103

interface PeersOptions {
  /** Folder of this user's workers with the same host identity. */
  readonly folder: string
  /** Called once for each worker that has ended, before or after this one started. `name` is the name of its files. */
  readonly onEnd: (name: string) => void
}

/**
 * The other workers with the same host identity on this machine. Each listens on a Unix socket and is connected to all
 * others. The operating system closes the connections of a process at every kind of end; a stopped process keeps them.
 */
export class Peers {
  /** Name of this worker's files in the folder. */
  readonly name = `${process.pid}-${randomUUID().slice(0, 8)}`
  readonly #options: PeersOptions
  readonly #server: Server
  readonly #connections = new Map<string, Socket>()
  readonly #accepted = new Set<Socket>()
  #isClosed = false

  private constructor(options: PeersOptions) {
    this.#options = options
    this.#server = createServer((socket) => {
      this.#accepted.add(socket)
      socket
        .on('error', () => undefined)
        .once('close', () => this.#accepted.delete(socket))
        .unref()
      this.#connectToOthers() // also to a process that has just started
    }).unref()
  }

  /** @throws Error when the folder or the socket can't be made */
  static async start(options: PeersOptions): Promise<Peers> {
    makeFolderSync(options.folder, 0o700)
    const peers = new Peers(options)
    await new Promise<void>((resolve, reject) => {
      peers.#server.once('error', reject).listen(peers.#socketOf(peers.name), resolve)
    })
    peers.#connectToOthers()
    return peers
  }

  /** Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const socket of [...this.#connections.values(), ...this.#accepted]) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
    rmSync(this.#socketOf(this.name), { force: true })
  }

  #socketOf(name: string): string {
    return join(this.#options.folder, `${name}${socketSuffix}`)
  }

  #connectToOthers(): void {
    if (this.#isClosed) return
    const names = readdirSync(this.#options.folder)
      .filter((file) => file.endsWith(socketSuffix))
      .map((file) => file.slice(0, -socketSuffix.length))
    for (const name of names) if (name !== this.name && !this.#connections.has(name)) this.#connectTo(name)
  }

  #connectTo(name: string): void {
    const socket = connect(this.#socketOf(name))
    this.#connections.set(name, socket)
    // A refused connection ends in the same way as a connection that breaks.
    socket.on('error', () => undefined).unref()
    socket.once('close', () => {
      if (this.#isClosed) return
      rmSync(this.#socketOf(name), { force: true })
      this.#connections.delete(name)
      this.#options.onEnd(name)
    })
  }
}
