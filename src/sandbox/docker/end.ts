import { setTimeout as sleep } from 'node:timers/promises'
import type { SandboxEnd } from '../backend.js'
import { killedExitCode } from '../lost.js'
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

/** How long before its container counts as exited a stream may close. */
const exitMs = 500

/** How long the last words of an exited container may take; nobody may be reading them. */
const drainMs = 2_000

/** Pause before waiting again for a container that lives on. */
const againMs = 1_000

const disconnected: ContainerEnd = { reason: 'disconnected', exitCode: null, memoryExceeded: false }

/**
 * Finds out how a connected container ends. Neither source alone is enough: waiting for the exit hangs when the daemon
 * dies, and a closed stream does not say why. Never rejects.
 */
export async function findEnd(sources: EndSources): Promise<ContainerEnd> {
  const { engine, container, streamClosed, signal } = sources
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  let closed = false
  for (;;) {
    const exit = waitForExit(engine, container, signal)
    await Promise.race([exit, streamClosed.then(() => (closed = true)), aborted])
    if (signal.aborted) return disconnected
    let end = await inspectEnd(engine, container, signal)
    if (end?.reason === 'disconnected' && closed) {
      await Promise.race([exit, pause(exitMs), aborted])
      end = await inspectEnd(engine, container, signal)
    }
    if (end === undefined || (closed && end.reason === 'disconnected')) return disconnected
    if (end.reason !== 'disconnected') {
      await Promise.race([streamClosed, pause(drainMs), aborted])
      return end
    }
    // The wait was cut (some proxies cut idle requests), container and stream live on: wait again, without haste.
    await Promise.race([streamClosed, pause(againMs), aborted])
  }
}

function pause(milliseconds: number): Promise<void> {
  return sleep(milliseconds, undefined, { ref: false })
}

/** As far as the daemon knows; undefined when it does not answer. */
async function inspectEnd(
  engine: DockerEngine,
  container: string,
  signal: AbortSignal,
): Promise<ContainerEnd | undefined> {
  try {
    return await lookAtEnd(engine, container, signal)
  } catch {
    return undefined
  }
}

/** How a container ended, if it did; `exited` with no code when it is gone. @throws PtcError SANDBOX_UNAVAILABLE */
export async function lookAtEnd(engine: DockerEngine, container: string, signal: AbortSignal): Promise<ContainerEnd> {
  const found = await engine.inspect(container, signal)
  if (found === undefined) return { reason: 'exited', exitCode: null, memoryExceeded: false }
  const { Running, ExitCode, OOMKilled } = found.State
  if (Running) return disconnected
  const reason = OOMKilled && ExitCode === killedExitCode ? 'out_of_memory' : 'exited'
  return { reason, exitCode: ExitCode, memoryExceeded: OOMKilled }
}

/** What a process of the sandbox can't say itself. */
export function hintOf({ memoryExceeded }: ContainerEnd): string {
  return memoryExceeded ? '[a process of the sandbox used up its memory and was killed]' : ''
}
