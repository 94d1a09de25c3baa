import { setTimeout as delay } from 'node:timers/promises'
import { PtcError, messageOf } from '../common/errors.js'
import { searchAttributeNames, searchAttributeTypes, toTemporalType } from '../common/run/search-attributes.js'
import type { EnvironmentVariables } from '../platform/cache-directory.js'
import { probeTcp, probeNamespace } from './probe.js'
import type { ServerLog } from './server-log.js'
import { type SupervisedProcess, spawnSupervised } from './supervise.js'
import { devServerSettings } from './temporal-cli.js'

interface ServerProcessOptions {
  readonly binary: string
  readonly namespace: string
  readonly port: number
  /** Undefined: no UI. */
  readonly uiPort: number | undefined
  /** Address of a codec server for the UI. */
  readonly uiCodecEndpoint: string | undefined
  /** Undefined: in memory. */
  readonly databaseFile: string | undefined
  readonly log: ServerLog
  readonly environment: EnvironmentVariables
}

const ip = '127.0.0.1'
const startTimeoutMs = 60_000
const probeTimeoutMs = 2_000
const probeIntervalMs = 50
/** A server that does not print its port counts as ready this many milliseconds after its first reply. */
const noLogGraceMs = 10_000
const graceMs = 5_000

/** One process of `temporal server start-dev`. */
export class ServerProcess {
  readonly address: string
  readonly uiUrl: string | undefined
  readonly #options: ServerProcessOptions
  readonly #process: SupervisedProcess
  #closing: Promise<void> | undefined

  constructor(options: ServerProcessOptions) {
    this.#options = options
    this.address = `${ip}:${options.port}`
    this.uiUrl = options.uiPort === undefined ? undefined : `http://${ip}:${options.uiPort}`
    this.#process = spawnSupervised(options.binary, commandLineOf(options), {
      environment: withoutTemporalVariables(options.environment),
      output: options.log.descriptor,
    })
  }

  get pid(): number {
    return this.#process.pid
  }

  /**
   * Resolves when this server answers. Another server may have taken its port: the log tells them apart.
   *
   * @throws PtcError TEMPORAL_UNREACHABLE with the last log lines when the server ends or is not ready within 60 s
   */
  async waitUntilReady(signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + startTimeoutMs
    let repliedAt: number | undefined
    let ended: string | undefined
    void this.#process.ended.then(
      (how) => (ended = how),
      (error: unknown) => (ended = messageOf(error)),
    )
    for (;;) {
      signal.throwIfAborted()
      if (ended !== undefined) throw await this.#failure(`ended while it started (${ended})`)
      try {
        // TCP first: gRPC waits a second after each refused connection.
        await probeTcp(this.address)
        await probeNamespace({ address: this.address }, this.#options.namespace, probeTimeoutMs)
        repliedAt ??= performance.now()
        if ((await this.#hasLoggedItsPort()) || performance.now() - repliedAt > noLogGraceMs) return
        await delay(probeIntervalMs)
      } catch (error) {
        if (performance.now() > deadline)
          throw await this.#failure(`is not ready after ${startTimeoutMs / 1000} s`, error)
        await delay(probeIntervalMs)
      }
    }
  }

  /** True once the server has printed its port, as in `Server: localhost:7233`. */
  async #hasLoggedItsPort(): Promise<boolean> {
    return new RegExp(`Server: .*:${this.#options.port}$`, 'm').test(await this.#options.log.tail())
  }

  /** Settles when the process ends without {@link close}; otherwise never. */
  unexpectedExit(): Promise<PtcError> {
    return new Promise((settle) => {
      const report = async (how: string): Promise<void> => {
        if (this.#closing !== undefined) return
        const failure = await this.#failure(`ended by itself (${how})`)
        await this.close() // closes the log, even if the owner never does
        settle(failure)
      }
      void this.#process.ended.then(report, (error: unknown) => report(messageOf(error)))
    })
  }

  /** SIGTERM, SIGKILL after 5 s; resolves when the process is gone and the log is closed. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#stop()
    return this.#closing
  }

  async #stop(): Promise<void> {
    this.#process.terminate()
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

function commandLineOf({
  namespace,
  port,
  uiPort,
  uiCodecEndpoint,
  databaseFile,
}: ServerProcessOptions): readonly string[] {
  return [
    'server',
    'start-dev',
    `--ip=${ip}`,
    `--port=${port}`,
    `--namespace=${namespace}`,
    uiPort === undefined ? '--headless' : `--ui-port=${uiPort}`,
    ...(databaseFile === undefined ? [] : [`--db-filename=${databaseFile}`]),
    '--log-level=warn',
    ...(uiCodecEndpoint === undefined ? [] : [`--ui-codec-endpoint=${uiCodecEndpoint}`]),
    ...searchAttributeNames.map((name) => `--search-attribute=${name}=${toTemporalType(searchAttributeTypes[name])}`),
    ...devServerSettings,
  ]
}

/** The CLI reads TEMPORAL_* too; the user's profile must not change the dev server. */
function withoutTemporalVariables(environment: EnvironmentVariables): EnvironmentVariables {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('TEMPORAL_')))
}
