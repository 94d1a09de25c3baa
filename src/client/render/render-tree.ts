import { plural } from '../../common/text.js'
import type { RunTree } from '../history/index.js'
import { type Branch, drawBranches } from './branch.js'
import { colorsFor } from './colors.js'
import { formatCost, formatTokens } from './format.js'
import { factLines, type Line, part, printLine, type Style } from './line.js'
import { oneLine } from './neutralise.js'
import { durationOf, type Scene } from './scene.js'
import { inWords, type Status, statusMark } from './status-mark.js'
import { textBlock } from './text-block.js'
import { turnBranch } from './turn-branch.js'
import { describeUnserved } from './unserved-queue.js'

export interface RenderTreeOptions {
  /** Columns of the terminal; 80 where there is none. */
  readonly width: number
  readonly color: boolean
  /** Code, output and results as a whole instead of their beginnings. */
  readonly full?: boolean
  /** Until when what is not over has lasted; default: now. */
  readonly now?: number
}

const shownQuestionLines = 6
const shownAnswerLines = 30

/** Draws a run: what was asked, every turn with its code and calls, and what came of it. Ends without a line break. */
export function renderTree(tree: RunTree, options: RenderTreeOptions): string {
  const { width, color, full = false, now = Date.now() } = options
  const colors = colorsFor(color)
  const scene: Scene = { full, now: tree.endedAt ?? now }
  const answer = tree.type === 'agent' ? tree.result?.answer : undefined
  const branches = [...tree.turns.map((turn) => turnBranch(turn, answer, scene)), ...endBranches(tree, scene)]
  return [
    ...headLines(tree, scene, width).map((line) => printLine(line, width, colors)),
    ...drawBranches(branches, width, colors),
  ].join('\n')
}

function headLines(tree: RunTree, scene: Scene, columns: number): readonly Line[] {
  const { totals, workflowType, workflowId, model, sandbox } = tree
  const standing = standingOf(tree)
  const { turns, cells, toolCalls, usage, costUsd } = totals
  const counted = turns > 0 ? [plural(turns, 'turn'), plural(cells, 'cell')] : []
  const spent = turns > 0 ? [formatTokens(usage), formatCost(costUsd)] : []
  const made = [tree.type === 'program' ? undefined : model, sandbox].filter((each) => each !== undefined)
  const asked = tree.type === 'agent' ? tree.question : ''
  const indented = (text: string, style: Style, limit?: number): readonly Line[] =>
    textBlock(text, { columns: columns - 2, style, limit, prose: true }).map((line) => [part('  '), ...line])
  const counts = [durationOf(tree, scene), ...counted, plural(toolCalls, 'tool call'), ...spent]
  return [
    [
      statusMark(standing),
      part(` ${oneLine(workflowId)}`, 'bold'),
      part(`  ${oneLine(workflowType)} · ${inWords(standing)}`),
    ],
    ...indented(factLines(counts, columns - 2).join('\n'), 'dim'),
    ...indented(made.join(' · '), 'dim'),
    ...indented(asked, 'plain', scene.full ? undefined : shownQuestionLines),
    ...(tree.lacksBeginning ? indented(beginningIsGone, 'yellow') : []),
    ...tree.unserved.flatMap((queue) => indented(describeUnserved(queue, scene.now), 'yellow')),
  ]
}

const beginningIsGone = 'The server no longer has the first histories of this run: it is drawn from where they end.'

/** Beside a failure that is no end. */
const stuck = 'does not go on, though it is tried again and again'

/** How the run stands: Temporal's word, and its own where that says more. */
function standingOf(tree: RunTree): Status {
  const own =
    tree.type === 'agent' ? tree.result?.status : tree.type === 'program' ? tree.result?.outcome.status : undefined
  return own === undefined || own === 'ok' ? tree.status : own
}

function endBranches(tree: RunTree, { full }: Scene): readonly Branch[] {
  const branches: Branch[] = []
  if (tree.type === 'agent' && tree.result) {
    const { answer } = tree.result
    const limit = full ? undefined : shownAnswerLines
    branches.push({
      head: () => [part('answer', 'bold')],
      body: (columns) => textBlock(answer, { columns, limit, prose: true }),
    })
  }
  const turn = tree.turns.at(-1)?.model
  const said = turn?.status === 'failed' && turn.failure.message === tree.failure?.message
  if (tree.failure && !said) {
    const { code, message } = tree.failure
    branches.push({
      head: () => [part(tree.status === 'running' ? stuck : inWords(tree.status), 'red')],
      body: (columns) => textBlock(`${code}: ${message}`, { columns, limit: undefined, style: 'red' }),
    })
  }
  return branches
}
