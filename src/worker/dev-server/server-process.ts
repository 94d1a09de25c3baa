import { setTimeout as delay } from 'node:timers/promises'
import { PtcError, messageOf } from '../../common/errors.js'
import type { Environment } from '../../sandbox/cache-directory.js'
import { connectable, probe } from './probe.js'
import type { ServerLog } from './server-log.js'
import { type Supervised, supervise } from './supervise.js'

export interface ServerProcessOptions {
  readonly binary: string
  readonly namespace: string
  readonly port: number
  /** Undefined: no UI. */
  readonly uiPort: number | undefined
  /** Undefined: everything in memory. */
  readonly databaseFile: string | undefined
  readonly log: ServerLog
  readonly environment: Environment
}

const ip = '127.0.0.1'
const readyMs = 60_000
const attemptMs = 2_000
const betweenAttemptsMs = 50
/** A server of a version that prints nothing is believed when it has lived so long after the first answer. */
const silentMs = 10_000
const graceMs = 5_000

/** One `temporal server start-dev`, from its start to its end. */
export class ServerProcess {
  readonly address: string
  readonly uiUrl: string | undefined
  readonly #options: ServerProcessOptions
  readonly #process: Supervised
  #closing: Promise<void> | undefined

  constructor(options: ServerProcessOptions) {
    this.#options = options
    this.address = `${ip}:${options.port}`
    this.uiUrl = options.uiPort === undefined ? undefined : `http://${ip}:${options.uiPort}`
    this.#process = supervise(options.binary, argumentsOf(options), {
      environment: withoutTemporal(options.environment),
      output: options.log.descriptor,
    })
  }

  get pid(): number {
    return this.#process.pid
  }

  /**
   * Resolves when the server answers, and it is this one: another may have taken the port a moment before.
   *
   * @throws PtcError TEMPORAL_UNREACHABLE with its last log lines when it ends first, or is not ready within 60 s
   */
  async ready(signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + readyMs
    let answeredAt: number | undefined
    let ended: string | undefined
    void this.#process.ended.then(
      (how) => (ended = how),
      (error: unknown) => (ended = messageOf(error)),
    )
    for (;;) {
      signal.throwIfAborted()
      if (ended !== undefined) throw await this.#failure(`ended while it started (${ended})`)
      try {
        // A plain connection first: gRPC waits a second after each refused one.
        await connectable(this.address)
        await probe({ address: this.address }, this.#options.namespace, attemptMs)
        answeredAt ??= performance.now()
        if ((await this.#saysWhereItListens()) || performance.now() - answeredAt > silentMs) return
        await delay(betweenAttemptsMs)
      } catch (error) {
        if (performance.now() > deadline) throw await this.#failure(`is not ready after ${readyMs / 1000} s`, error)
        await delay(betweenAttemptsMs)
      }
    }
  }

  /** What a server prints once it has its port: `Server: localhost:7233`. */
  async #saysWhereItListens(): Promise<boolean> {
    return new RegExp(`Server: .*:${this.#options.port}$`, 'm').test(await this.#options.log.tail())
  }

  /** Settles when the process ends without {@link close}; otherwise never. */
  lost(): Promise<PtcError> {
    return new Promise((settle) => {
      const tell = async (how: string): Promise<void> => {
        if (this.#closing !== undefined) return
        const failure = await this.#failure(`ended by itself (${how})`)
        await this.close() // nobody else may: it lets go of the log
        settle(failure)
      }
      void this.#process.ended.then(tell, (error: unknown) => tell(messageOf(error)))
    })
  }

  /** SIGTERM, SIGKILL after 5 s; resolves when the process is gone and the log is closed. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    this.#process.release()
    const kill = setTimeout(() => this.#process.kill(), graceMs)
    await this.#process.ended.catch(() => {})
    clearTimeout(kill)
    await this.#options.log.close()
  }

  async #failure(what: string, cause?: unknown): Promise<PtcError> {
    const { log, binary } = this.#options
    const tail = await log.tail().catch(() => '')
    return new PtcError('TEMPORAL_UNREACHABLE', `the Temporal server ${what}${tail === '' ? '' : `\n${tail}`}`, {
      hint: `It was started from ${binary}; its log is ${log.path}.`,
      cause,
    })
  }
}

function argumentsOf({ namespace, port, uiPort, databaseFile }: ServerProcessOptions): readonly string[] {
  return [
    'server',
    'start-dev',
    `--ip=${ip}`,
    `--port=${port}`,
    `--namespace=${namespace}`,
    uiPort === undefined ? '--headless' : `--ui-port=${uiPort}`,
    ...(databaseFile === undefined ? [] : [`--db-filename=${databaseFile}`]),
    '--log-level=warn',
    // The default polls 20 times a second for each shard, and there is one: every activity would wait 100 ms.
    '--dynamic-config-value=history.transferProcessorMaxPollRPS=2000',
  ]
}

/** The CLI reads TEMPORAL_* itself; a profile of the user must not bend the server we start. */
function withoutTemporal(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('TEMPORAL_')))
}
