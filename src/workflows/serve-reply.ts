import type { ToolResultBlock, ToolUseBlock } from '../common/messages.js'
import { executeCodeTool } from '../common/names.js'
import type { CallOutcome } from '../common/outcomes.js'
import type { DescribedCall } from '../common/steps.js'
import { cutMiddle } from '../common/text.js'
import { callTool } from './call-tool.js'
import { cellText } from './cell-text.js'
import type { Notebook } from './notebook.js'
import { runCell } from './run-cell.js'
import type { Run } from './run.js'

/**
 * Serves every tool_use of a reply and gives one tool_result for each, in their order. Direct calls run in parallel; cells
 * share one session, so they run one after the other beside them.
 */
export async function serveReply(
  run: Run,
  notebook: Notebook,
  uses: readonly ToolUseBlock[],
  calls: Readonly<Record<string, DescribedCall>>,
): Promise<ToolResultBlock[]> {
  let cells: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = cells.then(work)
    cells = result
    return result
  }
  return Promise.all(
    uses.map((use, position) => {
      if (use.name === executeCodeTool) return inTurn(() => serveCell(run, notebook, use))
      return serveDirect(run, use, calls[use.id], position + 1)
    }),
  )
}

async function serveCell(run: Run, notebook: Notebook, use: ToolUseBlock): Promise<ToolResultBlock> {
  const { code } = use.input
  if (typeof code !== 'string') return result(use, `${executeCodeTool} takes {"code": "..."}`, true)
  const { text, isError } = cellText(await runCell(run, notebook, code))
  return result(use, text, isError)
}

async function serveDirect(
  run: Run,
  use: ToolUseBlock,
  call: DescribedCall | undefined,
  index: number,
): Promise<ToolResultBlock> {
  if (!call) return result(use, `there is no tool named ${use.name}`, true)
  const outcome = await callTool(run, call, 'direct', { turn: run.counts.turns, cell: 0, index })
  return result(use, cutMiddle(outcomeText(outcome), run.plan.limits.outputCharacters), outcome.status !== 'ok')
}

function outcomeText(outcome: CallOutcome): string {
  if (outcome.status !== 'ok') return `[${outcome.status}] ${outcome.message}`
  return typeof outcome.value === 'string' ? outcome.value : JSON.stringify(outcome.value)
}

function result(use: ToolUseBlock, content: string, isError: boolean): ToolResultBlock {
  // The API refuses an empty text in some positions, and it says nothing to the model.
  const text = content === '' ? '(empty)' : content
  return { type: 'tool_result', tool_use_id: use.id, content: text, ...(isError ? { is_error: true } : {}) }
}
