import type { CallPosition } from '../../common/calls/calls.js'
import type { JsonObject } from '../../common/json/json.js'
import type { PtcClient } from '../client.js'
import type { RunTree } from '../run-tree/index.js'
import { withSharedWaits } from './shared-waits.js'

/** A call that waits for its result, or for its approval. Times are ISO 8601. */
export interface ListedCall {
  readonly waitsFor: 'result' | 'approval'
  readonly tool: string
  readonly summary: string
  /** The arguments. A large value is replaced by its reference, under the key `ptc.value`. */
  readonly arguments: JsonObject
  readonly position: CallPosition
  readonly since: string
  readonly expiresAt: string
  readonly token: string
}

/**
 * Returns the calls of a run that wait for something from outside, with the calls of its cell in the session of another
 * workflow.
 */
export async function waitingCallsOf(
  ptc: Pick<PtcClient, 'handle'>,
  workflowId: string,
): Promise<readonly ListedCall[]> {
  return waitingCalls(await withSharedWaits(ptc, await ptc.handle(workflowId).tree()))
}

/** Returns the calls of a run that wait for something from outside, in the order in which their waits began. */
export function waitingCalls({ waitsFor }: Pick<RunTree, 'waitsFor'>): readonly ListedCall[] {
  return waitsFor.flatMap((wait) => {
    if (wait.type === 'budget') return []
    const { type, since, expiresAt, ...call } = wait
    const times = { since: new Date(since).toISOString(), expiresAt: new Date(expiresAt).toISOString() }
    return [{ waitsFor: type === 'approval' ? ('approval' as const) : ('result' as const), ...call, ...times }]
  })
}
