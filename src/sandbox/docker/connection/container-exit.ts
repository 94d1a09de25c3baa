import { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { waitForAbort } from '../../../common/async/abort.js'
import { sigkillExitCode } from '../../sandbox-end.js'
import type { DockerEngine } from '../engine/docker-engine.js'
import { statusOf } from '../engine/docker-error.js'

interface ContainerExitOptions {
  readonly engine: DockerEngine
  readonly container: string
  /** Resolves when the attach stream is closed, for any reason. */
  readonly streamClosed: Promise<void>
  /** Aborted when the exit no longer matters. */
  readonly signal: AbortSignal
}

interface ContainerExit {
  readonly reason: 'exited' | 'out_of_memory'
  /** Null when the container has been removed. */
  readonly exitCode: number | null
  /** True when the kernel killed a process of the sandbox for its memory. It may be another process than the runner. */
  readonly oomKilled: boolean
}

/** The stream of a container may close this long before the daemon reports the exit. */
const exitGraceMs = 500

/** Time to receive the remaining output of an exited container. There may be no reader, so the wait is bounded. */
const drainTimeoutMs = 2_000

/** Pause before another wait for a container that is still running. */
const waitRetryDelayMs = 1_000

/**
 * Waits until a connected container exits or the connection to it is lost. Neither source alone is enough: the wait
 * request hangs when the daemon dies, and a closed stream does not show the reason. Never rejects.
 */
export async function awaitContainerExit(options: ContainerExitOptions): Promise<ContainerExit | 'disconnected'> {
  const { engine, container, streamClosed, signal } = options
  const aborted = waitForAbort(signal)
  let closed = false
  for (;;) {
    const exit = waitForExit(engine, container, signal)
    await Promise.race([exit, streamClosed.then(() => (closed = true)), aborted])
    if (signal.aborted) return 'disconnected'
    let state = await tryInspectExit(engine, container, signal)
    if (state === 'running' && closed) {
      await Promise.race([exit, pause(exitGraceMs), aborted])
      state = await tryInspectExit(engine, container, signal)
    }
    if (typeof state === 'object') {
      await Promise.race([streamClosed, pause(drainTimeoutMs), aborted])
      return state
    }
    if (state === 'unknown' || closed) return 'disconnected'
    // Some proxies end idle requests. The container is running and the stream is open, so wait again after a pause.
    await Promise.race([streamClosed, pause(waitRetryDelayMs), aborted])
  }
}

function pause(milliseconds: number): Promise<void> {
  return sleep(milliseconds, undefined, { ref: false })
}

/** Returns `unknown` when the daemon does not respond. */
async function tryInspectExit(
  engine: DockerEngine,
  container: string,
  signal: AbortSignal,
): Promise<ContainerExit | 'running' | 'unknown'> {
  try {
    return await inspectExit(engine, container, signal)
  } catch {
    return 'unknown'
  }
}

/** Reads the exit of a container; `running` when it has not exited. @throws PtcError SANDBOX_UNAVAILABLE */
export async function inspectExit(
  engine: DockerEngine,
  container: string,
  signal: AbortSignal,
): Promise<ContainerExit | 'running'> {
  const found = await engine.inspect(container, signal)
  if (found === undefined) return { reason: 'exited', exitCode: null, oomKilled: false }
  const { Running, ExitCode, OOMKilled } = found.State
  if (Running) return 'running'
  const reason = OOMKilled && ExitCode === sigkillExitCode ? 'out_of_memory' : 'exited'
  return { reason, exitCode: ExitCode, oomKilled: OOMKilled }
}

/** Returns a diagnostic for the kill of a process by the kernel, which the process itself can't report. */
export function oomDiagnostic({ oomKilled }: ContainerExit): string {
  return oomKilled ? '[a process of the sandbox used up its memory and was killed]' : ''
}

const waitResponse = z.object({ StatusCode: z.int() })

/**
 * Waits until a container is not running. Returns its exit code, null when the container has been removed, or undefined
 * when the request broke off. `signal` is the only timeout. Never rejects. (dockerode's own `wait` never settles when
 * the daemon dies.)
 */
export async function waitForExit(
  engine: DockerEngine,
  container: string,
  signal: AbortSignal,
): Promise<number | null | undefined> {
  try {
    const response = await engine.dial({
      path: `/containers/${container}/wait?`,
      method: 'POST',
      options: { _query: { condition: 'not-running' }, _body: {} },
      isStream: true,
      statusCodes: { 200: true, 404: 'no such container', 500: 'server error' },
      abortSignal: signal,
    })
    if (!(response instanceof IncomingMessage)) return undefined
    return waitResponse.parse(JSON.parse(await text(response))).StatusCode
  } catch (error) {
    return statusOf(error) === 404 ? null : undefined
  }
}
