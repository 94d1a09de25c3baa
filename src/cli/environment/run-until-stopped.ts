import type { TemporalServer } from '../../dev-server/index.js'
import { waitForAbort } from '../../common/async/abort.js'
import { waitAtMost, Interrupted, type Interrupts, exitedShutdownTimeoutMs } from '../process/interrupts.js'
import type { CliWorker } from './cli-worker.js'
import { printStatus } from '../process/stdio.js'

type StoppableWorker = Pick<CliWorker, 'closeTimeoutMs' | 'unexpectedExit' | 'uncaughtError' | 'close'>

/**
 * Waits until the user stops the worker, or until the worker or the server exits; then closes both.
 *
 * @param inform prints a line about the shutdown
 * @throws PtcError of an unexpected exit; Interrupted on the second Ctrl-C
 */
export async function runUntilStopped(
  worker: StoppableWorker,
  server: TemporalServer,
  interrupts: Interrupts,
  inform = printStatus,
): Promise<void> {
  const { uncaughtError, unexpectedExit, closeTimeoutMs } = worker
  const end = await Promise.race([
    Promise.race([unexpectedExit, server.unexpectedExit]).then((error) => ({
      error,
      timeoutMs: exitedShutdownTimeoutMs,
    })),
    // Calls of other runs may end normally.
    uncaughtError.then((error) => ({ error, timeoutMs: closeTimeoutMs })),
    waitForAbort(interrupts.first).then(() => ({ error: undefined, timeoutMs: closeTimeoutMs })),
  ])
  if (end.error === undefined) inform('\nfinishing running activities; press Ctrl-C again to stop now')
  else if (end.timeoutMs === closeTimeoutMs)
    inform(`${end.error.message}\nfinishing running activities; then the worker ends`)
  await waitAtMost(end.timeoutMs, closeWithServer(worker, server), interrupts.second)
  if (end.error !== undefined) throw end.error
  // Every finished step is recorded; only unfinished work is repeated.
  if (interrupts.second.aborted) {
    throw new Interrupted('stopped; running runs resume when a worker runs again')
  }
}

async function closeWithServer(worker: StoppableWorker, server: TemporalServer): Promise<void> {
  await worker.close()
  await server.close()
}
