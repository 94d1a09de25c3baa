import { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import Dockerode from 'dockerode'
import { PtcError, messageOf } from '../../common/errors.js'
import { withDeadline } from './deadline.js'
import { dockerError, statusOf } from './errors.js'

export interface CallOptions {
  /** Completes "could not …" in the error. */
  readonly doing: string
  readonly signal?: AbortSignal | undefined
  /** Milliseconds; the engine's own deadline when absent. */
  readonly deadlineMs?: number
  /** HTTP statuses that mean the work is done already; then the answer is undefined. */
  readonly fine?: readonly number[]
}

/** The Docker daemon, through dockerode: every call has a deadline, every refusal becomes one of our errors. */
export class DockerEngine {
  readonly #docker: Dockerode
  readonly #deadlineMs: number

  /** @throws PtcError CONFIG_INVALID when DOCKER_HOST and its companions make no sense */
  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs
    if (process.env['DOCKER_HOST']?.startsWith('ssh:') === true) {
      // dockerode would connect, but to anybody: it compares no host key, and what code and tools say would go there.
      throw new PtcError('CONFIG_INVALID', 'DOCKER_HOST=ssh://… is not supported: host keys would not be checked', {
        hint:
          'Let ssh make a tunnel: `ssh -N -L /tmp/docker.sock:/var/run/docker.sock user@host`, ' +
          'and DOCKER_HOST=unix:///tmp/docker.sock.',
      })
    }
    try {
      this.#docker = new Dockerode()
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
    const { doing, signal, deadlineMs = this.#deadlineMs, fine = [] } = options
    try {
      return await withDeadline(deadlineMs, signal, (abortSignal) => request(this.#docker, abortSignal))
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason
      const status = statusOf(error)
      if (status !== undefined && fine.includes(status)) return undefined
      throw dockerError(error, doing)
    }
  }

  /** The container of this name or id; undefined when there is none. */
  async inspect(container: string, signal?: AbortSignal): Promise<Dockerode.ContainerInspectInfo | undefined> {
    return this.call({ doing: `inspect container ${container}`, signal, fine: [404] }, (docker, abortSignal) =>
      docker.getContainer(container).inspect({ abortSignal }),
    )
  }

  /** Starts a container; one that runs is fine. */
  async start(container: string, signal?: AbortSignal): Promise<void> {
    // 304: somebody else was faster.
    await this.call({ doing: `start container ${container}`, signal, fine: [304] }, (docker, abortSignal) =>
      docker.getContainer(container).start({ abortSignal }),
    )
  }

  /** Gives a container another name; tells when that is taken, or when there is no container of the old one. */
  async rename(container: string, name: string, signal?: AbortSignal): Promise<'renamed' | 'taken' | 'gone'> {
    try {
      await this.call({ doing: `rename container ${container}`, signal }, (docker, abortSignal) =>
        docker.getContainer(container).rename({ name, abortSignal }),
      )
      return 'renamed'
    } catch (error) {
      const status = PtcError.isInstance(error) ? statusOf(error.cause) : undefined
      if (status === 409) return 'taken'
      if (status === 404) return 'gone'
      throw error
    }
  }

  /** Removes a container with its volumes; one that is gone, or going, is fine. */
  async remove(container: string): Promise<void> {
    const remove = () =>
      this.call({ doing: `remove container ${container}`, fine: [404, 409] }, (docker, abortSignal) =>
        docker.getContainer(container).remove({ force: true, v: true, abortSignal }),
      )
    try {
      await remove()
    } catch (error) {
      if (!isJustEnding(error)) throw error
      await sleep(justEndingMs)
      await remove()
    }
  }

  /** Sends a signal; false when the container does not run. */
  async kill(container: string, signal: 'SIGINT' | 'SIGKILL'): Promise<boolean> {
    const sent = await this.call(
      { doing: `send ${signal} to ${container}`, fine: [404, 409] },
      async (docker, abort) => {
        await docker.getContainer(container).kill({ signal, abortSignal: abort })
        return true
      },
    )
    return sent ?? false
  }

  /** A request that dockerode has no (whole) method for; without a deadline but the one in `options`. */
  dial(options: DialOptions): Promise<unknown> {
    return dial(this.#docker, options)
  }
}

/** Time Podman needs to see that a container has ended. */
const justEndingMs = 500

/** Podman refuses to remove a container that is ending by itself at that very moment. */
function isJustEnding(error: unknown): boolean {
  return PtcError.isInstance(error) && statusOf(error.cause) === 500 && /state improper/.test(error.message)
}

export type DialOptions = Parameters<Dockerode['modem']['dial']>[0]

function dial(docker: Dockerode, options: DialOptions): Promise<unknown> {
  return new Promise((resolve, reject) => {
    docker.modem.dial(options, (error, result) => {
      if (error !== null && error !== undefined) return reject(error)
      // From here on a broken connection is an `error` event; nobody listens yet, and it must not end the process.
      if (result instanceof Duplex) result.on('error', () => {})
      resolve(result)
    })
  })
}
