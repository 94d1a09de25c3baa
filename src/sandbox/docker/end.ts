import { setTimeout as sleep } from 'node:timers/promises'
import type { SandboxEnd } from '../backend.js'
import { waitForExit } from './attach.js'
import type { DockerEngine } from './engine.js'

export interface EndSources {
  readonly engine: DockerEngine
  readonly container: string
  /** Resolves when the attach stream is over, for whatever reason. */
  readonly streamClosed: Promise<void>
  /** Aborted when the end is known, or nobody wants to know any more. */
  readonly signal: AbortSignal
}

export type ContainerEnd = Omit<SandboxEnd, 'diagnostics'> & {
  /** The kernel killed some process of the sandbox for its memory, not necessarily the runner. */
  readonly memoryExceeded: boolean
}

/** No daemon reports "killed for memory" and a code other than this for the runner itself. */
const killedExitCode = 137

/** How long a container that has lost its stream may take to be reported as exited, and the other way round. */
const settleMs = 2_000

const disconnected: ContainerEnd = { reason: 'disconnected', exitCode: null, memoryExceeded: false }

/**
 * Finds out how a connected container ends. Neither source alone is enough: waiting for the exit hangs when the daemon
 * dies, and a closed stream does not say why. Never rejects.
 */
export async function findEnd(sources: EndSources): Promise<ContainerEnd> {
  const { engine, container, streamClosed, signal } = sources
  const aborted = new Promise<'aborted'>((resolve) => {
    signal.addEventListener('abort', () => resolve('aborted'), { once: true })
  })
  for (;;) {
    const exit = waitForExit(engine, container, signal).then((code) => (code === undefined ? 'unknown' : 'exited'))
    const first = await Promise.race([exit, streamClosed.then(() => 'closed' as const), aborted])
    if (first === 'aborted') return disconnected
    // The stream closes a moment before the container counts as exited.
    if (first === 'closed') await Promise.race([exit, sleep(settleMs)])
    const end = await inspectEnd(sources)
    if (end === undefined || first === 'closed') return end ?? disconnected
    if (end.reason === 'exited' || end.reason === 'out_of_memory') {
      // What it said last is still on its way.
      await Promise.race([streamClosed, sleep(settleMs)])
      return end
    }
    // The wait was cut (some proxies cut idle requests), container and stream live on: wait again, without haste.
    await Promise.race([streamClosed, sleep(settleMs), aborted])
  }
}

/** Undefined when the daemon does not answer. */
async function inspectEnd({ engine, container }: EndSources): Promise<ContainerEnd | undefined> {
  try {
    const found = await engine.inspect(container)
    if (found === undefined) return { reason: 'exited', exitCode: null, memoryExceeded: false }
    const { Running, ExitCode, OOMKilled } = found.State
    if (Running) return disconnected
    const reason = OOMKilled && ExitCode === killedExitCode ? 'out_of_memory' : 'exited'
    return { reason, exitCode: ExitCode, memoryExceeded: OOMKilled }
  } catch {
    return undefined
  }
}
