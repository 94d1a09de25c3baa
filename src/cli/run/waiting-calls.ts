import type { CallPosition } from '../../common/calls/calls.js'
import type { RunTree } from '../../client/run-tree/index.js'

/** A call that waits for its result, or for its approval. Times are ISO 8601. */
interface ListedCall {
  readonly waitsFor: 'result' | 'approval'
  readonly tool: string
  readonly summary: string
  readonly position: CallPosition
  readonly since: string
  readonly expiresAt: string
  readonly token: string
}

/** The calls of a run that wait for something from outside, in the order in which their waiting began. */
export function waitingCalls({ turns }: RunTree): readonly ListedCall[] {
  const calls = turns.flatMap(({ cells, directCalls }) => [...cells.flatMap((cell) => cell.calls), ...directCalls])
  return calls
    .flatMap(({ tool, summary, position, deferred, approval }) => {
      const wait = deferred ?? approval
      return wait ? [{ waitsFor: deferred ? 'result' : 'approval', tool, summary, position, ...wait } as const] : []
    })
    .toSorted((a, b) => a.since - b.since)
    .map(({ waitsFor, tool, summary, position, since, expiresAt, completionToken: token }) => ({
      waitsFor,
      tool,
      summary,
      position,
      since: new Date(since).toISOString(),
      expiresAt: new Date(expiresAt).toISOString(),
      token,
    }))
}
