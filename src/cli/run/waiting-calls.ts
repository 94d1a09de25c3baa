import type { CallPosition } from '../../common/calls.js'
import type { RunTree } from '../../client/run-tree/index.js'

/** A deferred call that waits for its result. Times are ISO 8601. */
interface ListedCall {
  readonly tool: string
  readonly summary: string
  readonly position: CallPosition
  readonly since: string
  readonly expiresAt: string
  readonly token: string
}

/** The deferred calls of a run that wait, in the order in which their waiting began. */
export function waitingCalls({ turns }: RunTree): readonly ListedCall[] {
  const calls = turns.flatMap(({ cells, directCalls }) => [...cells.flatMap((cell) => cell.calls), ...directCalls])
  return calls
    .flatMap(({ tool, summary, position, deferred }) => (deferred ? [{ tool, summary, position, ...deferred }] : []))
    .toSorted((a, b) => a.since - b.since)
    .map(({ tool, summary, position, since, expiresAt, completionToken: token }) => ({
      tool,
      summary,
      position,
      since: new Date(since).toISOString(),
      expiresAt: new Date(expiresAt).toISOString(),
      token,
    }))
}
