import type { CallNode, RunTree, RunWait } from '../../../client/run-tree/index.js'
import { isOpen } from '../../../client/run-tree/index.js'
import { describeRetry } from '../text/retry.js'
import { waitLines, waitNouns, unservedLines } from '../text/waits.js'
import { createColors } from '../text/colors.js'
import { formatDuration } from '../../../common/text/format.js'
import { type Line, part, formatLine } from '../text/line.js'
import { oneLine } from '../text/sanitize.js'

interface RenderProgressOptions {
  readonly width: number
  readonly color: boolean
  /** Default: now. */
  readonly now?: number
  /** The last milestones of calls in the live stream, by idempotency key. Default: those of the tree. */
  readonly milestones?: ReadonlyMap<string, string>
}

/** Maximum number of open calls that are named. The line is truncated in any case. */
const maxNamedCalls = 8

/** The current state of a run in a few lines, which replace the previous ones. Empty when the run has ended. */
export function renderProgress(tree: RunTree, options: RenderProgressOptions): string {
  const { width, color, now = Date.now(), milestones = new Map<string, string>() } = options
  if (tree.phase.type === 'ended') return ''
  const colors = createColors(color)
  const elapsed = part(`  ${formatDuration(now - tree.startedAt)}`, 'dim')
  const lines: Line[] = [
    [part('▸ ', 'yellow'), part(describePhase(tree)), elapsed],
    ...callsLine(tree),
    ...toolProgressLines(tree, milestones),
    ...retryLine(tree, now),
    ...waitLines(tree, (since) => `for ${formatDuration(now - since)}`, width - 3).map((line) => [part('  '), ...line]),
    ...tree.unserved.flatMap((queue) => unservedLines(queue, now, width - 3).map((line) => [part('  '), ...line])),
  ]
  // One column stays free: some terminals wrap a full line, and then the next redraw is off by one.
  return lines.map((line) => formatLine(line, width - 1, colors)).join('\n')
}

function describePhase({ phase, waitsFor }: RunTree): string {
  switch (phase.type) {
    case 'starting':
      return 'starting'
    case 'model':
      return `waiting for the model (turn ${phase.turn})`
    case 'opening_sandbox':
      return 'opening a sandbox'
    case 'rebuilding':
      return 'the sandbox was lost, rebuilding it'
    case 'waking':
      return 'resuming the sandbox'
    case 'running_code':
      return `cell ${phase.cell} runs`
    case 'moving_files':
      return 'moving files'
    case 'waiting_for_calls':
      return describeCallWaits(waitsFor, phase.open)
    case 'paused':
      return 'paused'
    case 'compensating':
      return 'compensating calls'
    case 'deciding':
    case 'ended':
      return 'continuing'
  }
}

/** Calls that wait for a person do not count as waiting for tools. */
function describeCallWaits(waits: readonly RunWait[], open: number): string {
  const calls = waits.flatMap((wait) => (wait.type === 'budget' ? [] : [wait]))
  // All waits of a sub-agent are those of one call of the run.
  if (new Set(calls.map(({ workflowId, token }) => workflowId ?? token)).size < open) return 'waiting for tools'
  return `waiting for ${[...new Set(calls.map(({ type }) => type))].map((type) => waitNouns[type]).join(' and ')}`
}

/** From this number on, open calls of one tool are counted and not named. */
const minCounted = 4

/** Calls of the running cell, and direct calls of the turn: `calls 12/20 done · get_expenses Q3 · slow × 14 · …`. */
function callsLine(tree: RunTree): readonly Line[] {
  const calls = currentCalls(tree)
  const open = calls.filter(({ status }) => isOpen(status))
  if (open.length === 0) return []
  const names = nameCalls(open).slice(0, maxNamedCalls)
  return [[part(`  calls ${calls.length - open.length}/${calls.length} done`), part(` · ${names.join(' · ')}`, 'dim')]]
}

/** Counts the calls of one tool when there are many. */
function nameCalls(calls: readonly CallNode[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const { tool } of calls) counts.set(tool, (counts.get(tool) ?? 0) + 1)
  const names = calls.map(({ tool, summary }) => {
    const count = counts.get(tool) ?? 0
    return count >= minCounted ? `${oneLine(tool)} × ${count}` : oneLine(summary)
  })
  return names.filter((name, index) => !name.includes(' × ') || names.indexOf(name) === index)
}

const maxProgressLines = 3

/** The last milestones of open calls. */
function toolProgressLines(tree: RunTree, milestones: ReadonlyMap<string, string>): readonly Line[] {
  const said = currentCalls(tree).flatMap(({ status, summary, progress, idempotencyKey = '' }) => {
    const text = milestones.get(idempotencyKey) ?? progress
    return isOpen(status) && text !== undefined ? [`${oneLine(summary)}: ${oneLine(text)}`] : []
  })
  return said.slice(-maxProgressLines).map((text) => [part(`  ${text}`, 'cyan')])
}

function currentCalls({ turns }: RunTree): readonly CallNode[] {
  const turn = turns.at(-1)
  const cell = turn?.cells.findLast(({ status }) => status === 'running')
  return [...(cell?.calls ?? []), ...(turn?.directCalls ?? [])]
}

/** The failure that is being retried: without it a retrying run looks like one that hangs. */
function retryLine(tree: RunTree, now: number): readonly Line[] {
  const model = tree.turns.at(-1)?.model
  const retrying = model && isOpen(model.status) ? [model] : currentCalls(tree)
  const [text] = retrying.flatMap((node) => describeRetry(node, now) ?? [])
  return text === undefined ? [] : [[part(`  ${text}`, 'yellow')]]
}
