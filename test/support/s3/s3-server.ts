import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { S3StoreSettings } from '../../../src/values/option.js'
import { freePorts } from '../../../src/dev-server/free-ports.js'
import { s3Binary } from './s3-binary.js'

/** Undefined when tests that need the server must be skipped. */
export const s3Available = s3Binary()

const accessKey = 'test-access'
const secretKey = 'test-secret-key'
const bucket = 'values'
const startMs = 60_000

/** A real S3 server with one bucket; its objects are files that a test can corrupt. */
export class S3Server {
  readonly #command: string
  readonly #port: number
  readonly #home: string
  /** The folder of its buckets. */
  readonly root: string
  #process: ChildProcess | undefined

  private constructor(command: string, port: number, home: string, root: string) {
    this.#command = command
    this.#port = port
    this.#home = home
    this.root = root
  }

  /** @param root an existing folder for its data, for example on a small disk; default: a temporary folder */
  static async start(root?: string): Promise<S3Server> {
    const command = await s3Available
    if (command === undefined) throw new Error('there is no S3 server to start')
    const [port = 0] = await freePorts([0])
    const home = await mkdtemp(join(tmpdir(), 'ptc-s3-'))
    const data = root ?? join(home, 'data')
    await Promise.all([mkdir(join(data, bucket), { recursive: true }), mkdir(join(home, 'meta'))])
    const server = new S3Server(command, port, home, data)
    await server.startProcess()
    process.env['AWS_ACCESS_KEY_ID'] = accessKey
    process.env['AWS_SECRET_ACCESS_KEY'] = secretKey
    return server
  }

  /** Settings of a store in the bucket; the AWS SDK reads credentials from the environment. */
  settings(prefix = ''): S3StoreSettings {
    return { kind: 's3', bucket, prefix, region: 'us-east-1', endpoint: this.endpoint, forcePathStyle: true }
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** The file of an object. */
  fileOf(key: string): string {
    return join(this.root, bucket, key)
  }

  /** Starts the server, also after {@link kill}; settles when it answers. */
  async startProcess(): Promise<void> {
    const options = ['--port', `127.0.0.1:${this.#port}`, '--access', accessKey, '--secret', secretKey, '--quiet']
    // The metadata is stored next to the data, because not every file system supports extended attributes.
    const backend = ['posix', '--sidecar', join(this.#home, 'meta'), this.root]
    const child = spawn(this.#command, [...options, ...backend], { stdio: 'ignore' })
    this.#process = child
    const deadline = Date.now() + startMs
    while (!(await this.#isReady())) {
      if (child.exitCode !== null) throw new Error(`the S3 server ended with ${child.exitCode}`)
      if (Date.now() > deadline) throw new Error(`the S3 server does not answer after ${startMs / 1000} s`)
      await delay(50)
    }
  }

  /** Kills the server; its data is kept. */
  async kill(): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }

  async close(): Promise<void> {
    await this.kill()
    await rm(this.#home, { recursive: true, force: true })
  }

  async #isReady(): Promise<boolean> {
    try {
      await fetch(this.endpoint)
      return true
    } catch {
      return false
    }
  }
}
