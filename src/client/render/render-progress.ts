import type { CallNode, RunTree } from '../history/index.js'
import { isOpen } from '../history/index.js'
import { noTool } from './call-branch.js'
import { colorsFor } from './colors.js'
import { formatDuration } from './format.js'
import { type Line, part, printLine } from './line.js'
import { oneLine } from './neutralise.js'
import { unservedLines } from './unserved-queue.js'

export interface RenderProgressOptions {
  readonly width: number
  readonly color: boolean
  /** Default: now. */
  readonly now?: number
}

/** Summaries of open calls that are worth naming; the line is cut to the terminal anyway. */
const namedCalls = 8

/** Where a run is right now, in a few lines that take the place of the ones before; empty when it has ended. */
export function renderProgress(tree: RunTree, { width, color, now = Date.now() }: RenderProgressOptions): string {
  if (tree.phase.type === 'ended') return ''
  const colors = colorsFor(color)
  const elapsed = part(`  ${formatDuration(now - tree.startedAt)}`, 'dim')
  const lines: Line[] = [
    [part('▸ ', 'yellow'), part(phaseInWords(tree)), elapsed],
    ...callsLine(tree),
    ...troubleLine(tree),
    ...tree.unserved.flatMap((queue) => unservedLines(queue, now, width - 3).map((line) => [part('  '), ...line])),
  ]
  // One column is left free: a full line makes some terminals break it, and then the next redraw is off by one.
  return lines.map((line) => printLine(line, width - 1, colors)).join('\n')
}

function phaseInWords({ phase }: RunTree): string {
  switch (phase.type) {
    case 'starting':
      return 'starting'
    case 'model':
      return `the model answers (turn ${phase.turn})`
    case 'opening_sandbox':
      return 'opening a sandbox'
    case 'rebuilding':
      return 'the sandbox was lost, making it again'
    case 'waking':
      return 'waking the sandbox'
    case 'running_code':
      return `cell ${phase.cell} runs`
    case 'waiting_for_calls':
      return 'waiting for tools'
    case 'deciding':
    case 'ended':
      return 'going on'
  }
}

/** `calls 12/20 done · get_expenses ENG004 Q3 · …`: of the cell that runs, or of the turn when it has none. */
function callsLine(tree: RunTree): readonly Line[] {
  const calls = currentCalls(tree)
  const open = calls.filter(({ status }) => isOpen(status))
  if (open.length === 0) return []
  const names = open.slice(0, namedCalls).map(({ summary }) => oneLine(summary))
  return [[part(`  calls ${calls.length - open.length}/${calls.length} done`), part(` · ${names.join(' · ')}`, 'dim')]]
}

function currentCalls({ turns }: RunTree): readonly CallNode[] {
  const turn = turns.at(-1)
  const cell = turn?.cells.findLast(({ status }) => status === 'running')
  return [...(cell?.calls ?? []), ...(turn?.directCalls ?? [])]
}

/** What is being tried again, and why: else a run that retries looks like one that hangs. */
function troubleLine(tree: RunTree): readonly Line[] {
  const model = tree.turns.at(-1)?.model
  const retrying = model && isOpen(model.status) ? [model] : currentCalls(tree).filter(({ status }) => isOpen(status))
  const [troubled] = retrying.filter(({ lastFailure }) => lastFailure)
  if (!troubled?.lastFailure) return []
  const { code, message } = troubled.lastFailure
  if (code === noTool) return [[part(`  ${oneLine(message)}`, 'yellow')]]
  const attempt = troubled.status === 'running' ? troubled.attempts : troubled.attempts + 1
  return [[part(`  attempt ${attempt} after: ${oneLine(message)}`, 'yellow')]]
}
