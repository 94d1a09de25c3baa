import { contextTokens } from '../../common/runs.js'
import { directCallEstimate, type RunTree } from '../history/index.js'
import { formatCost, formatDuration, formatNumber } from './format.js'

/** A run in numbers, for {@link renderTable}: what it took, and what it would have taken with direct calls. */
export function summaryRows(tree: RunTree, now = Date.now()): readonly (readonly [label: string, value: string])[] {
  const { turns, toolCalls, usage, costUsd } = tree.totals
  const direct = directCallEstimate(tree)
  return [
    ['turns', formatNumber(turns)],
    ['tool calls', formatNumber(toolCalls)],
    ['tokens that reached the model', formatNumber(contextTokens(usage))],
    ...(direct ? [directRow(direct)] : []),
    ['cost', formatCost(costUsd)],
    ['time', formatDuration((tree.endedAt ?? now) - tree.startedAt)],
  ]
}

/** Two digits: an estimate that shows more pretends to know more. */
function directRow({
  turns,
  inputTokens,
}: {
  readonly turns: number
  readonly inputTokens: number
}): readonly [string, string] {
  const rounded = Number(inputTokens.toPrecision(2))
  return [`the same with direct calls (estimate, ${turns} turns)`, `~${formatNumber(rounded)}`]
}
