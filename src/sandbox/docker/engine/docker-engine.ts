import { Duplex } from 'node:stream'
import Dockerode from 'dockerode'
import { PtcError, messageOf } from '../../../common/errors.js'
import { type DaemonAddress, findDaemon } from './daemon-address.js'
import { withTimeout } from './with-timeout.js'
import { dockerError, statusOf } from './docker-error.js'

export interface CallOptions {
  /** Completes "could not …" in the error. */
  readonly action: string
  readonly signal?: AbortSignal | undefined
  /** Timeout in milliseconds; default: the timeout of the engine. */
  readonly timeoutMs?: number
  /** HTTP statuses that mean that nothing has to be done. `call` returns undefined for them. */
  readonly ignoredStatuses?: readonly number[]
}

/** Requests to the Docker daemon through dockerode. Every call has a timeout, and every failure becomes a PtcError. */
export class DockerEngine {
  readonly #docker: Dockerode
  readonly #timeoutMs: number

  readonly address: DaemonAddress

  /** @throws PtcError CONFIG_INVALID when the DOCKER_* environment variables or the Docker context are invalid */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
    this.address = findDaemon()
    try {
      this.#docker = new Dockerode(this.address.options)
    } catch (cause) {
      throw new PtcError('CONFIG_INVALID', `the DOCKER_* environment is not usable: ${messageOf(cause)}`, {
        hint: 'DOCKER_HOST is like unix:///var/run/docker.sock or tcp://host:2376.',
        cause,
      })
    }
  }

  /** Makes one request. @throws PtcError SANDBOX_UNAVAILABLE; the reason of `signal` when that is aborted */
  async call<T>(
    options: CallOptions,
    request: (docker: Dockerode, abortSignal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    const { action, signal, timeoutMs = this.#timeoutMs, ignoredStatuses = [] } = options
    try {
      return await withTimeout(timeoutMs, signal, (abortSignal) => request(this.#docker, abortSignal))
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason
      const status = statusOf(error)
      if (status !== undefined && ignoredStatuses.includes(status)) return undefined
      throw dockerError(error, action, this.address.context)
    }
  }

  /** Returns the container with this name or id; undefined when there is none. */
  async inspect(container: string, signal?: AbortSignal): Promise<Dockerode.ContainerInspectInfo | undefined> {
    return this.call(
      { action: `inspect container ${container}`, signal, ignoredStatuses: [404] },
      (docker, abortSignal) => docker.getContainer(container).inspect({ abortSignal }),
    )
  }

  /** Starts a container; does nothing when it is running. */
  async start(container: string, signal?: AbortSignal): Promise<void> {
    // 304: the container is already running.
    await this.call({ action: `start container ${container}`, signal, ignoredStatuses: [304] }, (docker, abortSignal) =>
      docker.getContainer(container).start({ abortSignal }),
    )
  }

  /** Renames a container. `taken`: another container has the new name; `gone`: no container has the old name. */
  async rename(container: string, name: string, signal?: AbortSignal): Promise<'renamed' | 'taken' | 'gone'> {
    try {
      await this.call({ action: `rename container ${container}`, signal }, (docker, abortSignal) =>
        docker.getContainer(container).rename({ name, abortSignal }),
      )
      return 'renamed'
    } catch (error) {
      const status = statusOf(error)
      if (status === 409) return 'taken'
      if (status === 404) return 'gone'
      throw error
    }
  }

  /** Removes a container with its volumes. Does nothing when it is removed or is being removed. */
  async remove(container: string): Promise<void> {
    await this.call({ action: `remove container ${container}`, ignoredStatuses: [404, 409] }, (docker, abortSignal) =>
      docker.getContainer(container).remove({ force: true, v: true, abortSignal }),
    )
  }

  /** Sends a signal. Returns false when the container is not running. */
  async kill(container: string, signal: 'SIGINT' | 'SIGKILL'): Promise<boolean> {
    const sent = await this.call(
      { action: `send ${signal} to ${container}`, ignoredStatuses: [404, 409] },
      async (docker, abort) => {
        await docker.getContainer(container).kill({ signal, abortSignal: abort })
        return true
      },
    )
    return sent ?? false
  }

  /**
   * Starts a program as root in a running container, without waiting for it. Does nothing when the container is not
   * running.
   */
  async execAsRoot(container: string, command: readonly string[], signal?: AbortSignal): Promise<void> {
    await this.call(
      {
        action: `execute ${command[0]} in ${container}`,
        signal,
        timeoutMs: execTimeoutMs,
        ignoredStatuses: [404, 409],
      },
      async (docker, abortSignal) => {
        const options = { Cmd: [...command], User: '0:0', WorkingDir: '/', abortSignal }
        const exec = await docker.getContainer(container).exec(options)
        const response = await exec.start({ Detach: true, abortSignal })
        // The connection, and so the process, stays open until the response has been read.
        response.resume()
      },
    )
  }

  /** Sends a request for which dockerode has no complete method. Its only timeout is the signal in `options`. */
  dial(options: DialOptions): Promise<unknown> {
    return dial(this.#docker, options)
  }
}

/** Sandboxes are kept alive one after the other, so a sandbox that does not answer must not delay the others. */
const execTimeoutMs = 30_000

type DialOptions = Parameters<Dockerode['modem']['dial']>[0]

function dial(docker: Dockerode, options: DialOptions): Promise<unknown> {
  return new Promise((resolve, reject) => {
    docker.modem.dial(options, (error, result) => {
      if (error !== null && error !== undefined) return reject(error)
      // A broken connection emits `error`. Without a listener, which the caller has yet to add, it would end the
      // process.
      if (result instanceof Duplex) result.on('error', () => {})
      resolve(result)
    })
  })
}
