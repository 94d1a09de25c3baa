/*
 * The worker of `ptc dev`, in its own process (dev-worker.ts), so that a tool that ends the process ends neither the
 * server nor `ptc dev`.
 *
 * Invariants:
 * 1. A worker that has been ready once is started again after each end, with a growing pause. A worker that has never
 *    been ready is not started again: the project has a problem.
 * 2. The process ends when `ptc dev` ends, even by a kill: its channel is closed.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { raceWithSignal } from '../../common/async/abort.js'
import { deferred } from '../../common/async/deferred.js'
import { messageOf, PtcError } from '../../common/errors.js'
import { formatDuration } from '../../common/text/duration.js'
import { printStatus } from '../process/stdio.js'
import type { CliWorker } from './cli-worker.js'
import type { DevWorkerOptions, FromDevWorker } from './dev-worker.js'

/** The properties of the worker that `ptc dev` uses. */
export type WorkerProcess = Pick<
  CliWorker,
  'notice' | 'modelNotice' | 'closeTimeoutMs' | 'unexpectedExit' | 'uncaughtError' | 'close'
>

/**
 * Shorter than a heartbeat timeout: the next worker then delays the call that may have ended the last worker
 * (worker/takeover/retry-delay.ts). After the timeout, the server would give it the call at once.
 */
const pauseMs = { first: 1_000, maximum: 5_000 } as const
/** A worker that has run for this long has recovered. */
const recoveredAfterMs = 60_000

const entry = fileURLToPath(new URL('dev-worker.js', import.meta.url))

/**
 * Starts the process, and starts it again whenever it ends, until it is closed.
 *
 * @throws PtcError of a worker that can't start; the signal's reason
 */
export async function startWorkerProcess(options: DevWorkerOptions, signal: AbortSignal): Promise<WorkerProcess> {
  let child = launch(options)
  const closing = new AbortController()
  const closed = async (): Promise<void> => {
    closing.abort()
    child.stop()
    await child.ended
  }
  const keepRunning = async (): Promise<void> => {
    for (let waitMs: number = pauseMs.first; ; waitMs = Math.min(2 * waitMs, pauseMs.maximum)) {
      const startedAt = performance.now()
      const { message } = await child.ended
      if (closing.signal.aborted) return
      if (performance.now() - startedAt > recoveredAfterMs) waitMs = pauseMs.first
      printStatus(`ptc: the worker has ended: ${message.replace(/^the worker ended: /, '')}`)
      printStatus(`It starts again in ${formatDuration(waitMs)}; the server runs on.`)
      await delay(waitMs, undefined, { signal: closing.signal }).catch(() => undefined)
      if (closing.signal.aborted) return
      child = launch(options)
      child.ready.then(
        () => printStatus('the worker runs again'),
        () => undefined,
      )
    }
  }
  try {
    const ready = await raceWithSignal(signal, child.ready)
    const running = keepRunning()
    const close = () => Promise.all([closed(), running]).then(() => undefined)
    return { ...ready, unexpectedExit: never(), uncaughtError: never(), close }
  } catch (thrown) {
    // The worker has begun nothing that it could finish.
    child.kill()
    throw thrown
  }
}

interface Launched {
  /** Rejects with the reason when the process ends before it is ready. */
  readonly ready: Promise<Pick<CliWorker, 'notice' | 'modelNotice' | 'closeTimeoutMs'>>
  /** Why the process has ended. */
  readonly ended: Promise<PtcError>
  /** Ends the worker in an orderly way. */
  stop(): void
  kill(): void
}

function launch(options: DevWorkerOptions): Launched {
  const ready = deferred<Awaited<Launched['ready']>>()
  const child = fork(entry, [JSON.stringify(options)], { stdio: 'inherit' })
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  let failure: PtcError | undefined
  child.on('message', (message: FromDevWorker) => {
    if (message.type === 'ready') ready.resolve(message)
    else failure = new PtcError(message.code, message.message, message.hint === undefined ? {} : { hint: message.hint })
  })
  const ended = endOf(child).then((how) => {
    process.off('exit', kill)
    const reason = failure ?? new PtcError('INTERNAL', how)
    ready.reject(reason)
    return reason
  })
  const stop = (): void => void (child.connected && child.send('stop', () => undefined))
  return { ready: ready.promise, ended, stop, kill }
}

async function endOf(child: ChildProcess): Promise<string> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    return signal === null ? `its process ended with exit code ${code}` : `${signal} ended its process`
  } catch (thrown) {
    return `its process can't run: ${messageOf(thrown)}`
  }
}

function never(): Promise<never> {
  return new Promise(() => {})
}
