import { NativeConnection, Worker } from '@temporalio/worker'
import { onTestFinished, vi } from 'vitest'
import type { RemoteCall } from '../../../../src/index.js'
import type { PtcClient, RunHandle } from '../../../../src/client/index.js'
import type { Ledger } from '../../../support/ledger.js'
import { sharedServer } from '../../../support/temporal/shared-server.js'

/** Starts the worker of the remote tool, which survives all faults. The worker ends with the test. */
export async function startOtherWorker(runTaskQueue: string, ledgerUrl: string): Promise<void> {
  const { address, namespace } = sharedServer()
  const connection = await NativeConnection.connect({ address })
  const activities = {
    async charge_elsewhere({ name }: { readonly name: string }, { idempotencyKey: key }: RemoteCall) {
      const response = await fetch(ledgerUrl, { method: 'POST', body: JSON.stringify({ key, name }) })
      return response.json()
    },
  }
  const taskQueue = `${runTaskQueue}-elsewhere`
  const worker = await Worker.create({ connection, namespace, taskQueue, activities })
  const ended = worker.run()
  onTestFinished(async () => {
    worker.shutdown()
    await ended
    await connection.close()
  })
}

/** Approves a call as soon as the ledger has the token of its request. */
export async function approveCall(ledger: Ledger, ptc: PtcClient, request: string): Promise<void> {
  await ptc.approveCall(await tokenOf(ledger, request))
}

/** Completes a deferred call as soon as its tool has sent its token to the ledger. */
export async function completeDeferredCall(ledger: Ledger, ptc: PtcClient, name: string): Promise<void> {
  await ptc.completeCall(await tokenOf(ledger, name), { done: name })
}

/**
 * Raises the budget of a run as soon as it has paused.
 *
 * @param onPaused called before the raise
 */
export async function raiseBudget(
  handle: Pick<RunHandle<unknown>, 'budget' | 'describe'>,
  onPaused: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const isPaused = async (): Promise<boolean> => (await handle.budget()).paused !== null
  // The response to the update may be lost with its worker, and the run may end meanwhile.
  const raise = async (): Promise<boolean> => {
    if ((await handle.describe()).status !== 'running') return true
    const { paused } = await handle.budget()
    if (paused) await handle.budget({ turns: 100 })
    return paused === null
  }
  // Each call sends a request to the run, and its worker may be dead.
  const until = (work: () => Promise<boolean>) =>
    vi.waitUntil(() => work().catch(() => false), { timeout: 300_000, interval: 250 })
  await until(isPaused)
  await onPaused()
  await until(raise)
}

async function tokenOf(ledger: Ledger, name: string): Promise<string> {
  await ledger.waitForRequests(name)
  const token = ledger.requests.find((entry) => entry.name === name)?.token
  if (token === undefined) throw new Error(`the ledger has no token of ${name}`)
  return token
}
