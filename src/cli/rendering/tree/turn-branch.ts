import type { ModelNode, TurnNode } from '../../../client/run-tree/index.js'
import type { Branch } from './branch.js'
import { callBranches } from './call-branch.js'
import { cellBranch } from './cell-branch.js'
import { formatCost, formatTokens } from '../../../common/text/format.js'
import { formatCompactNumber } from '../../../common/text/text.js'
import { type Line, part, justify } from '../text/line.js'
import { oneLine } from '../text/sanitize.js'
import { describeRetry } from '../text/retry.js'
import { formatAttempts, formatSpan, joinFacts, type RenderContext } from './render-context.js'
import { statusMark } from './status-mark.js'
import { textBlock } from '../text/text-block.js'

const maxTextLines = 4
/** Stop reasons that the tree does not show. */
const ordinaryStopReasons = new Set(['end_turn', 'tool_use'])

/**
 * One turn: the model reply, its cells and direct calls.
 *
 * @param answer the run's answer, which is shown separately and not repeated
 */
export function turnBranch(turn: TurnNode, answer: string | undefined, context: RenderContext): Branch {
  const { number, planStep, model, cells, directCalls } = turn
  const title = planStep === undefined ? `turn ${number}` : `turn ${number} · step ${oneLine(planStep)}`
  return {
    head: (columns) =>
      model
        ? justify(
            [statusMark(model.status), part(` ${title}`, 'bold'), ...modelStatusNote(model)],
            modelFacts(model, context),
            columns,
          )
        : [part(number === 0 ? 'program' : title, 'bold')],
    body: (columns) => (model ? modelLines(model, answer, context, columns) : []),
    children: [...cells.map((cell) => cellBranch(cell, context)), ...callBranches(directCalls, context)],
  }
}

function modelStatusNote(model: ModelNode): Line {
  if (model.status !== 'ok') return model.status === 'failed' ? [] : [part(` the model: ${model.status}`, 'yellow')]
  const stopped = ordinaryStopReasons.has(model.stopReason) ? '' : ` stopped: ${oneLine(model.stopReason)}`
  const cleared = (model.contextEdits ?? []).reduce((sum, edit) => sum + Number(edit['cleared_input_tokens'] ?? 0), 0)
  const edits = model.contextEdits ? ` the provider cleared ${formatCompactNumber(cleared)} tokens` : ''
  return stopped + edits === '' ? [] : [part(stopped + edits, 'yellow')]
}

function modelFacts(model: ModelNode, context: RenderContext): Line {
  const took = formatSpan(model, context)
  if (model.status !== 'ok') return joinFacts(took, formatAttempts(model))
  return joinFacts(took, formatAttempts(model), formatTokens(model.usage), formatCost(model.costUsd))
}

function modelLines(
  model: ModelNode,
  answer: string | undefined,
  { full, now }: RenderContext,
  columns: number,
): readonly Line[] {
  const limit = full ? undefined : maxTextLines
  switch (model.status) {
    case 'ok':
      return model.text === answer ? [] : textBlock(model.text, { columns, limit, prose: true })
    case 'failed': {
      const { code, message } = model.failure
      return textBlock(`${code}: ${message}`, { columns, limit, style: 'red', prose: true })
    }
    case 'waiting':
    case 'running':
    case 'interrupted': {
      const text = describeRetry(model, now)
      return text === undefined ? [] : textBlock(text, { columns, limit, style: 'yellow', prose: true })
    }
  }
}
