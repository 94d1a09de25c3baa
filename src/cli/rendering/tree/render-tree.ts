/*
 * `src/cli/rendering` turns run trees, progress and tables into text for a terminal.
 *
 * Boundary: trees and plain data in, text out. It sends no request and reads no configuration.
 *
 * Invariants:
 * 1. No line is wider than the given width.
 * 2. The time is linear in the length of the text.
 * 3. Colours change no character: without them the text is the same.
 */

import { pluralize } from '../../../common/text/text.js'
import type { CompactionNode, RunTree } from '../../../client/run-tree/index.js'
import { type Branch, drawBranches } from './branch.js'
import { describeCompaction } from '../text/compaction.js'
import { createColors } from '../text/colors.js'
import { formatCost, formatTokens } from '../../../common/text/format.js'
import { formatLine, justify, type Line, part, type Style, wrapFacts } from '../text/line.js'
import { fileLines, isUpload } from '../text/files.js'
import { oneLine } from '../text/sanitize.js'
import { formatAttempts, formatSpan, joinFacts, type RenderContext } from './render-context.js'
import { formatStatus, type DisplayStatus, statusMark } from './status-mark.js'
import { textBlock } from '../text/text-block.js'
import { turnBranch } from './turn-branch.js'
import { formatRequester, sinceTime, waitLines } from '../text/waits.js'
import { describeUnserved } from '../../../client/workers/unserved-queue.js'

interface RenderTreeOptions {
  /** Maximum columns of a line. */
  readonly width: number
  readonly color: boolean
  /** Shows code, output and results untruncated. */
  readonly full?: boolean
  /** The time at which open spans end. Default: now. */
  readonly now?: number
}

const maxQuestionLines = 6
const maxAnswerLines = 30

/** Renders a run: question, each turn with its code and calls, and the answer or failure. No line break at the end. */
export function renderTree(tree: RunTree, options: RenderTreeOptions): string {
  const { width, color, full = false, now = Date.now() } = options
  const colors = createColors(color)
  const context: RenderContext = { full, now: tree.endedAt ?? now }
  const answer = tree.type === 'agent' ? tree.result?.answer : undefined
  const branches = [...turnBranches(tree, answer, context), ...endBranches(tree, context)]
  return [
    ...headerLines(tree, context, width).map((line) => formatLine(line, width, colors)),
    ...drawBranches(branches, width, colors),
  ].join('\n')
}

/** The turns, each after the compactions that precede it. */
function turnBranches(
  { turns, compactions }: RunTree,
  answer: string | undefined,
  context: RenderContext,
): readonly Branch[] {
  const last = turns.at(-1)?.number ?? 0
  const draw = (isShown: (turn: number) => boolean): readonly Branch[] =>
    compactions.filter(({ turn }) => isShown(turn)).map((compaction) => compactionBranch(compaction, context))
  return [
    ...turns.flatMap((turn) => [...draw((next) => next === turn.number), turnBranch(turn, answer, context)]),
    ...draw((next) => next > last),
  ]
}

/** The compaction of the messages before a turn. */
function compactionBranch(compaction: CompactionNode, context: RenderContext): Branch {
  const { status } = compaction
  const failure = status === 'failed' ? compaction.failure : status === 'ok' ? undefined : compaction.lastFailure
  return {
    head: (columns) =>
      justify(
        [statusMark(status), part(' compaction', 'bold'), part(` ${describeCompaction(compaction)}`)],
        joinFacts(formatSpan(compaction, context), formatAttempts(compaction)),
        columns,
      ),
    body: (columns) => {
      if (!failure) return []
      const style = status === 'failed' ? 'red' : 'yellow'
      return textBlock(`${failure.code}: ${failure.message}`, { columns, limit: 4, style, prose: true })
    },
  }
}

function headerLines(tree: RunTree, context: RenderContext, columns: number): readonly Line[] {
  const { totals, workflowType, workflowId, model, sandbox } = tree
  const status = displayStatusOf(tree)
  const { turns, cells, toolCalls, usage, costUsd, subagents } = totals
  const counted = turns > 0 ? [pluralize(turns, 'turn'), pluralize(cells, 'cell')] : []
  const spent = turns > 0 ? [formatTokens(usage), formatCost(costUsd)] : []
  const environment = [tree.type === 'program' ? undefined : model, sandbox].filter((each) => each !== undefined)
  const question = tree.type === 'agent' ? tree.question : ''
  const indented = (text: string, style: Style, limit?: number): readonly Line[] =>
    textBlock(text, { columns: columns - 2, style, limit, prose: true }).map((line) => [part('  '), ...line])
  const asked = formatRequester(tree.requester)
  const started = subagents ? [pluralize(subagents.runs, 'sub-agent')] : []
  const counts = [formatSpan(tree, context), ...counted, pluralize(toolCalls, 'tool call'), ...started, ...spent]
  return [
    [
      statusMark(status),
      part(` ${oneLine(workflowId)}`, 'bold'),
      part(`  ${oneLine(workflowType)} · ${formatStatus(status)}`),
    ],
    ...indented(wrapFacts(counts, columns - 2).join('\n'), 'dim'),
    ...indented(environment.join(' · '), 'dim'),
    ...indented(asked === '' ? '' : `asked by ${asked}`, 'dim'),
    ...indented(question, 'plain', context.full ? undefined : maxQuestionLines),
    ...uploadLines(tree, context),
    ...(tree.lacksBeginning ? indented(missingHistoryNotice, 'yellow') : []),
    ...waitLines(tree, sinceTime, columns - 2).map((line) => [part('  '), ...line]),
    ...tree.unserved.flatMap((queue) => indented(describeUnserved(queue, context.now), 'yellow')),
  ]
}

function uploadLines({ files = [] }: RunTree, context: RenderContext): readonly Line[] {
  const lines = fileLines(files.filter(isUpload), [], context)
  return lines.map((line) => [part('  '), part('upload ', 'dim'), ...line])
}

const missingHistoryNotice = 'Earlier histories of this run were deleted (retention); the tree starts later.'

/** Title of a failure that does not end the run. */
const taskFailureTitle = 'workflow task keeps failing; Temporal retries it'

/** The status of the workflow, or the status of its result when that says more. */
function displayStatusOf(tree: RunTree): DisplayStatus {
  const own =
    tree.type === 'agent' ? tree.result?.status : tree.type === 'program' ? tree.result?.outcome.status : undefined
  return own === undefined || own === 'ok' ? tree.status : own
}

function endBranches(tree: RunTree, { full }: RenderContext): readonly Branch[] {
  const branches: Branch[] = []
  if (tree.type === 'agent' && tree.result) {
    const { answer } = tree.result
    const limit = full ? undefined : maxAnswerLines
    branches.push({
      head: () => [part('answer', 'bold')],
      body: (columns) => textBlock(answer, { columns, limit, prose: true }),
    })
  }
  const turn = tree.turns.at(-1)?.model
  const isShownByTurn = turn?.status === 'failed' && turn.failure.message === tree.failure?.message
  if (tree.failure && !isShownByTurn) {
    const { code, message } = tree.failure
    branches.push({
      head: () => [part(tree.status === 'running' ? taskFailureTitle : formatStatus(tree.status), 'red')],
      body: (columns) => textBlock(`${code}: ${message}`, { columns, limit: undefined, style: 'red' }),
    })
  }
  return branches
}
