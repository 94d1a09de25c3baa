import type { CallPosition } from '../../common/calls/calls.js'
import type { JsonObject } from '../../common/json/json.js'
import type { PtcClient } from '../client.js'
import type { RunTree } from '../run-tree/index.js'
import { withNestedWaits } from './nested-waits.js'

/** A call that waits for its result, or for its approval. Times are ISO 8601. */
export interface ListedCall {
  readonly waitsFor: 'result' | 'approval'
  /** The workflow that makes the call for the run: a sub-agent, or a session. Absent: the run itself. */
  readonly workflowId?: string
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
 * The calls of a run that wait for something from outside, with those of its sub-agents, and those of a cell that it
 * has in the session of another workflow.
 */
export async function waitingCallsOf(
  ptc: Pick<PtcClient, 'handle'>,
  workflowId: string,
): Promise<readonly ListedCall[]> {
  return waitingCalls(await withNestedWaits(ptc, await ptc.handle(workflowId).tree()))
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
