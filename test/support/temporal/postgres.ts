import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readdirSync } from 'node:fs'
import { chown, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePorts } from '../../../src/dev-server/free-ports.js'
import { childrenOf, isAlive, killIfRunning } from '../faults/processes.js'

const run = promisify(execFile)
const startMs = 60_000
const user = 'temporal'

export interface PostgresOptions {
  /** Default false: a test kills only processes, never the machine, so the kernel has all written data. */
  readonly fsync?: boolean
}

/** A private PostgreSQL cluster, which a test can kill and restart. */
export class Postgres {
  readonly #programs: string
  readonly #folder: string
  readonly #owner: Owner
  readonly #options: PostgresOptions
  readonly port: number
  readonly user = user
  #process: ChildProcess | undefined

  private constructor(programs: string, folder: string, owner: Owner, port: number, options: PostgresOptions) {
    this.#programs = programs
    this.#folder = folder
    this.#owner = owner
    this.port = port
    this.#options = options
  }

  /**
   * Creates and starts an empty cluster.
   *
   * @throws Error when PostgreSQL is not installed
   */
  static async start(settings: PostgresOptions = {}): Promise<Postgres> {
    const programs = findPostgres()
    const [owner, [port = 0]] = await Promise.all([unprivilegedUser(), freePorts([0])])
    const folder = await mkdtemp(join(tmpdir(), 'ptc-postgres-'))
    const postgres = new Postgres(programs, folder, owner, port, settings)
    try {
      if (owner.uid !== undefined) await chown(folder, owner.uid, owner.gid ?? owner.uid)
      const options = ['--pgdata', postgres.#data, '--username', user, '--auth', 'trust', '--encoding', 'UTF8']
      await run(join(programs, 'initdb'), [...options, '--no-sync'], { ...owner, cwd: folder })
      await postgres.startProcess()
    } catch (thrown) {
      await postgres.close()
      throw thrown
    }
    return postgres
  }

  /** Id of the first process; undefined while none runs. */
  get pid(): number | undefined {
    return this.#process?.pid
  }

  /** kill -9 of all its processes; settles when none is left. */
  async kill(): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    const backends = childrenOf(child.pid)
    const exit = once(child, 'exit')
    for (const pid of [child.pid, ...backends]) killIfRunning(pid)
    await exit
    for (const pid of backends) while (isAlive(pid)) await sleep(20)
  }

  /** Starts the server; settles when it accepts connections after its recovery. */
  async startProcess(): Promise<void> {
    const log = openSync(join(this.#folder, 'log'), 'a')
    const options = ['-p', String(this.port), '-h', '127.0.0.1', '-k', this.#folder, '-c', 'max_connections=200']
    const { fsync = false } = this.#options
    const durability = ['-c', `fsync=${fsync ? 'on' : 'off'}`]
    const child = spawn(join(this.#programs, 'postgres'), ['-D', this.#data, ...options, ...durability], {
      ...this.#owner,
      cwd: this.#folder,
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    this.#process = child
    for (const deadline = Date.now() + startMs; !(await this.#isReady()); await sleep(50)) {
      if (child.exitCode === null && Date.now() < deadline) continue
      throw new Error(
        `PostgreSQL does not start:\n${(await readFile(join(this.#folder, 'log'), 'utf8')).slice(-2_000)}`,
      )
    }
  }

  async close(): Promise<void> {
    await this.kill()
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 20 })
  }

  get #data(): string {
    return join(this.#folder, 'data')
  }

  #isReady(): Promise<boolean> {
    return run(join(this.#programs, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(this.port)]).then(
      () => true,
      () => false,
    )
  }
}

type Owner = { readonly uid?: number; readonly gid?: number }

/** The user for PostgreSQL, which refuses to run as root. */
async function unprivilegedUser(): Promise<Owner> {
  if (process.getuid?.() !== 0) return {}
  const { stdout } = await run('id', ['-u', 'nobody'])
  return { uid: Number(stdout), gid: Number(stdout) }
}

/**
 * The folder of its programs, which is not in PATH on Debian.
 *
 * @throws Error when PostgreSQL is not installed
 */
export function findPostgres(): string {
  const installed = '/usr/lib/postgresql'
  const versions = existsSync(installed)
    ? readdirSync(installed).toSorted((one, other) => Number(other) - Number(one))
    : []
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...versions.map((name) => join(installed, name, 'bin')),
  ]
  const found = folders.find((folder) => requiredPrograms.every((program) => existsSync(join(folder, program))))
  if (found === undefined) throw new Error('PostgreSQL is not installed')
  return found
}

const requiredPrograms = ['initdb', 'postgres', 'pg_isready']
