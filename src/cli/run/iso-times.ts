import type { CallNode, RunTree, Span, TurnNode } from '../../client/run-tree/index.js'

/** A tree for `--json`, with its times in ISO 8601 as other commands print them. Values of the run are unchanged. */
export function withIsoTimes(tree: RunTree): object {
  const unserved = tree.unserved.map((each) => ({
    ...each,
    ...('waitingSince' in each && { waitingSince: iso(each.waitingSince) }),
    ...('lastPolledAt' in each && { lastPolledAt: iso(each.lastPolledAt) }),
  }))
  return { ...isoSpan(tree), unserved, turns: tree.turns.map(isoTurn) }
}

function isoTurn({ model, cells, directCalls, ...turn }: TurnNode): object {
  return {
    ...turn,
    model: model && isoSpan(model),
    cells: cells.map((cell) => ({ ...isoSpan(cell), calls: cell.calls.map(isoCall) })),
    directCalls: directCalls.map(isoCall),
  }
}

function isoCall({ deferred, ...call }: CallNode): object {
  const { since, expiresAt } = deferred ?? {}
  return { ...isoSpan(call), deferred: deferred && { ...deferred, since: iso(since), expiresAt: iso(expiresAt) } }
}

function isoSpan(timed: Span): object {
  return { ...timed, startedAt: iso(timed.startedAt), endedAt: iso(timed.endedAt) }
}

function iso(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : new Date(milliseconds).toISOString()
}
