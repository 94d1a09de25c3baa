import type { HeldText, SaidBlock, ToolUseBlock } from '../common/messages.js'
import { executeCodeTool } from '../common/names.js'
import type { CallOutcome } from '../common/outcomes.js'
import type { DescribedCall } from '../common/steps.js'
import { cutMiddle, textOfJson } from '../common/text.js'
import { type Held, isHeldElsewhere } from '../common/values.js'
import { callTool } from './call-tool.js'
import type { CellState } from './cell-state.js'
import { cellText } from './cell-text.js'
import type { Notebook } from './notebook.js'
import { resumeCell, runCell } from './run-cell.js'
import type { Run } from './run.js'

/** A reply that is being served. */
export interface Serving {
  readonly uses: readonly ToolUseBlock[]
  /** Direct calls, by tool_use id. */
  readonly calls: Readonly<Record<string, DescribedCall>>
  /** What is served already, by tool_use id. */
  readonly results: Record<string, SaidBlock>
  /** The tool_use whose cell runs, if one does. */
  current?: string
}

/** Where a cell was left by an earlier run of the chain. */
export interface LeftCell {
  readonly use: string
  readonly cell: CellState
}

/**
 * Serves every tool_use of a reply and gives one tool_result for each, in their order. Direct calls run in parallel; cells
 * share one session, so they run one after the other beside them.
 *
 * @param left the cell to go on with
 */
export async function serveReply(
  run: Run,
  notebook: Notebook,
  serving: Serving,
  left: LeftCell | undefined,
): Promise<SaidBlock[]> {
  let cells: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = cells.then(work)
    cells = result
    return result
  }
  const { uses, calls, results } = serving
  const serve = (use: ToolUseBlock, position: number): Promise<SaidBlock> => {
    if (use.name === executeCodeTool) {
      return inTurn(() => {
        serving.current = use.id
        return serveCell(run, notebook, use, left?.use === use.id ? left.cell : undefined)
      })
    }
    // The slot is held until the result is recorded: when no slot is held, every call that was begun is.
    return run.slots.hold(async () => (results[use.id] = await serveDirect(run, use, calls[use.id], position + 1)))
  }
  return Promise.all(uses.map(async (use, position) => (results[use.id] ??= await serve(use, position))))
}

async function serveCell(
  run: Run,
  notebook: Notebook,
  use: ToolUseBlock,
  left: CellState | undefined,
): Promise<SaidBlock> {
  const code = codeOf(use)
  if (code === undefined) return result(use, `${executeCodeTool} takes {"code": "..."}`, true)
  const { text, isError } = cellText(await (left ? resumeCell(run, notebook, left) : runCell(run, notebook, code)))
  return result(use, text, isError)
}

function codeOf({ input }: ToolUseBlock): Held<string> | undefined {
  const { code } = input
  return typeof code === 'string' || (code !== undefined && isHeldElsewhere(code)) ? code : undefined
}

async function serveDirect(
  run: Run,
  use: ToolUseBlock,
  call: DescribedCall | undefined,
  index: number,
): Promise<SaidBlock> {
  if (!call) return result(use, `there is no tool named ${use.name}`, true)
  const outcome = await callTool(run, call, 'direct', { turn: run.counts.turns, cell: 0, index })
  return result(use, outcomeText(outcome, run.plan.limits.outputCharacters), outcome.status !== 'ok')
}

function outcomeText(outcome: CallOutcome, limit: number): string | HeldText {
  if (outcome.status !== 'ok') return cutMiddle(`[${outcome.status}] ${outcome.message}`, limit)
  const { value } = outcome
  if (isHeldElsewhere(value)) return { parts: [value], limit, after: '' }
  return cutMiddle(textOfJson(value), limit)
}

function result({ id }: ToolUseBlock, text: string | HeldText, isError: boolean): SaidBlock {
  const base = { type: 'tool_result', tool_use_id: id, ...(isError ? { is_error: true } : {}) } as const
  if (typeof text !== 'string') return { ...base, held: text }
  // The API refuses an empty text in some positions, and it says nothing to the model.
  return { ...base, content: text === '' ? '(empty)' : text }
}
