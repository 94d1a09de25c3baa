import type { CallNode, RunTree } from '../../../client/run-tree/index.js'
import { isOpen } from '../../../client/run-tree/index.js'
import { toolNotRegistered } from '../tree/call-branch.js'
import { createColors } from '../text/colors.js'
import { formatDuration } from '../../../common/text/format.js'
import { type Line, part, formatLine } from '../text/line.js'
import { oneLine } from '../text/sanitize.js'
import { unservedLines } from './unserved-lines.js'

interface RenderProgressOptions {
  readonly width: number
  readonly color: boolean
  /** Default: now. */
  readonly now?: number
}

/** Maximum number of open calls that are named; the line is truncated anyway. */
const maxNamedCalls = 8

/** The current state of a run in a few lines, which replace the previous ones; empty when the run has ended. */
export function renderProgress(tree: RunTree, { width, color, now = Date.now() }: RenderProgressOptions): string {
  if (tree.phase.type === 'ended') return ''
  const colors = createColors(color)
  const elapsed = part(`  ${formatDuration(now - tree.startedAt)}`, 'dim')
  const lines: Line[] = [
    [part('▸ ', 'yellow'), part(describePhase(tree)), elapsed],
    ...callsLine(tree),
    ...retryLine(tree),
    ...tree.unserved.flatMap((queue) => unservedLines(queue, now, width - 3).map((line) => [part('  '), ...line])),
  ]
  // One column stays free: some terminals wrap a full line, and then the next redraw is off by one.
  return lines.map((line) => formatLine(line, width - 1, colors)).join('\n')
}

function describePhase({ phase }: RunTree): string {
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
    case 'waiting_for_calls':
      return 'waiting for tools'
    case 'compensating':
      return 'compensating calls'
    case 'deciding':
    case 'ended':
      return 'continuing'
  }
}

/** `calls 12/20 done · get_expenses ENG004 Q3 · …`: calls of the running cell, and direct calls of the turn. */
function callsLine(tree: RunTree): readonly Line[] {
  const calls = currentCalls(tree)
  const open = calls.filter(({ status }) => isOpen(status))
  if (open.length === 0) return []
  const names = open.slice(0, maxNamedCalls).map(({ summary }) => oneLine(summary))
  return [[part(`  calls ${calls.length - open.length}/${calls.length} done`), part(` · ${names.join(' · ')}`, 'dim')]]
}

function currentCalls({ turns }: RunTree): readonly CallNode[] {
  const turn = turns.at(-1)
  const cell = turn?.cells.findLast(({ status }) => status === 'running')
  return [...(cell?.calls ?? []), ...(turn?.directCalls ?? [])]
}

/** The failure that is being retried: without it a retrying run looks like one that hangs. */
function retryLine(tree: RunTree): readonly Line[] {
  const model = tree.turns.at(-1)?.model
  const retrying = model && isOpen(model.status) ? [model] : currentCalls(tree).filter(({ status }) => isOpen(status))
  const [retried] = retrying.filter(({ lastFailure }) => lastFailure)
  if (!retried?.lastFailure) return []
  const { code, message } = retried.lastFailure
  if (code === toolNotRegistered) return [[part(`  ${oneLine(message)}`, 'yellow')]]
  const attempt = retried.status === 'running' ? retried.attempts : retried.attempts + 1
  return [[part(`  attempt ${attempt} after: ${oneLine(message)}`, 'yellow')]]
}
