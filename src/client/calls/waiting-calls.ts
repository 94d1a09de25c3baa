import type { CallPosition } from '../../common/calls/calls.js'
import type { JsonObject } from '../../common/json/json.js'
import type { RunTree } from '../run-tree/index.js'

/** A call that waits for its result, or for its approval. Times are ISO 8601. */
export interface ListedCall {
  readonly waitsFor: 'result' | 'approval'
  readonly tool: string
  readonly summary: string
  /** For a large value its reference, under the key `ptc.value`. */
  readonly arguments: JsonObject
  readonly position: CallPosition
  readonly since: string
  readonly expiresAt: string
  readonly token: string
}

/** The calls of a run that wait for something from outside, in the order in which their waiting began. */
export function waitingCalls({ turns }: RunTree): readonly ListedCall[] {
  const calls = turns.flatMap(({ cells, directCalls }) => [...cells.flatMap((cell) => cell.calls), ...directCalls])
  return calls
    .flatMap(({ tool, summary, arguments: args, position, deferred, approval }) => {
      const wait = deferred ?? approval
      return wait
        ? [{ waitsFor: deferred ? 'result' : 'approval', tool, summary, args, position, ...wait } as const]
        : []
    })
    .toSorted((a, b) => a.since - b.since)
    .map(({ waitsFor, tool, summary, args, position, since, expiresAt, completionToken: token }) => ({
      waitsFor,
      tool,
      summary,
      arguments: args,
      position,
      since: new Date(since).toISOString(),
      expiresAt: new Date(expiresAt).toISOString(),
      token,
    }))
}
