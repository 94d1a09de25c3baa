import type { CallNode, RunTree, RunWait, Span, TurnNode } from '../../client/run-tree/index.js'

/** A tree for `--json`, with its times in ISO 8601 as other commands print them. Values of the run are unchanged. */
export function withIsoTimes(tree: RunTree): object {
  const unserved = tree.unserved.map((each) => ({
    ...each,
    ...('waitingSince' in each && { waitingSince: iso(each.waitingSince) }),
    ...('lastPolledAt' in each && { lastPolledAt: iso(each.lastPolledAt) }),
  }))
  const waitsFor = tree.waitsFor.map((wait) => ({ ...wait, ...isoWait(wait) }))
  return { ...isoSpan(tree), unserved, waitsFor, turns: tree.turns.map(isoTurn) }
}

function isoWait(wait: RunWait): object {
  return { since: iso(wait.since), ...(wait.type !== 'budget' && { expiresAt: iso(wait.expiresAt) }) }
}

function isoTurn({ model, cells, directCalls, ...turn }: TurnNode): object {
  return {
    ...turn,
    model: model && isoSpan(model),
    cells: cells.map((cell) => ({ ...isoSpan(cell), calls: cell.calls.map(isoCall) })),
    directCalls: directCalls.map(isoCall),
  }
}

function isoCall({ deferred, approval, decision, nextAttemptAt, ...call }: CallNode): object {
  return {
    ...isoSpan(call),
    deferred: deferred && { ...deferred, since: iso(deferred.since), expiresAt: iso(deferred.expiresAt) },
    ...(approval && { approval: { ...approval, since: iso(approval.since), expiresAt: iso(approval.expiresAt) } }),
    ...(decision && { decision: { ...decision, at: iso(decision.at) } }),
    ...(nextAttemptAt !== undefined && { nextAttemptAt: iso(nextAttemptAt) }),
  }
}

function isoSpan(timed: Span): object {
  return { ...timed, startedAt: iso(timed.startedAt), endedAt: iso(timed.endedAt) }
}

function iso(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : new Date(milliseconds).toISOString()
}
