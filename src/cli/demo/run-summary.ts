import { promptTokens } from '../../common/run/runs.js'
import type { RunTree } from '../../client/run-tree/index.js'
import { estimateDirectCalls } from './direct-call-estimate.js'
import { formatCost, formatDuration, formatNumber } from '../../common/text/format.js'

/** Rows for {@link renderBoxTable}: turns, calls, tokens, cost and time, with the estimate for direct calls. */
export function summaryRows(tree: RunTree, now = Date.now()): readonly (readonly [label: string, value: string])[] {
  const { turns, toolCalls, usage, costUsd } = tree.totals
  const direct = estimateDirectCalls(tree)
  return [
    ['turns', formatNumber(turns)],
    ['tool calls', formatNumber(toolCalls)],
    ['tokens that reached the model', formatNumber(promptTokens(usage))],
    ...(direct ? [directCallRow(direct)] : []),
    ['cost', formatCost(costUsd)],
    ['time', formatDuration((tree.endedAt ?? now) - tree.startedAt)],
  ]
}

/** Rounds the estimate to two digits, its accuracy. */
function directCallRow({
  turns,
  inputTokens,
}: {
  readonly turns: number
  readonly inputTokens: number
}): readonly [string, string] {
  const rounded = Number(inputTokens.toPrecision(2))
  return [`the same with direct calls (estimate, ${turns} turns)`, `~${formatNumber(rounded)}`]
}
