import { CancellationScope, isCancellation } from '@temporalio/workflow'
import type { TextParts, PendingBlock, ToolUseBlock } from '../../common/runs/messages.js'
import { executeCodeTool, readMoreTool, searchToolsTool, submitAnswerTool } from '../../common/names.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import type { DescribedCall } from '../../common/session/steps.js'
import { truncateMiddle, jsonToText } from '../../common/text/text.js'
import { type Externalizable, isExternal } from '../../common/json/external-value.js'
import { executeCall } from '../cell/execute-call.js'
import { toToolResultText } from '../cell/cell-result.js'
import type { CellState, CodeRuntime } from '../cell/code-runtime.js'
import { resumeCell, runCell } from '../cell/run-cell.js'
import type { ValueLog } from '../../common/json/value-log.js'
import { showProgress } from '../progress.js'
import type { EngineToolResult } from '../../common/runs/model-turn.js'
import { hasToolSearch } from '../../common/runs/run-config.js'
import { readMore, searchTools } from '../temporal/activities.js'
import { documentedToolSet } from './turn-request.js'
import type { Run } from '../run.js'

/** The tool uses of a reply, while they are executed. */
export interface PendingToolUses {
  readonly toolUses: readonly ToolUseBlock[]
  /** Direct calls, by tool_use id. */
  readonly calls: Readonly<Record<string, DescribedCall>>
  /** The results so far, by tool_use id. */
  readonly results: Record<string, PendingBlock>
  /** Id of the tool_use whose cell started last; absent before the first cell. */
  currentCell?: string
}

/** A cell that waited when the run continued as new. */
export interface SuspendedCell {
  readonly toolUseId: string
  readonly cell: CellState
}

/**
 * Tool results for the answers of a reply, which were not accepted.
 *
 * @param problem for the model
 */
export function rejectAnswers(uses: readonly ToolUseBlock[], problem: string): Record<string, PendingBlock> {
  const answers = uses.filter(({ name }) => name === submitAnswerTool)
  return Object.fromEntries(answers.map((use) => [use.id, toolResult(use, problem, true)]))
}

/** How the tool uses are interrupted. The cell that runs is interrupted by its session. */
export interface ToolUseInterruption {
  /** Then no other cell starts. */
  readonly isRequested: () => boolean
  /** Ends the direct calls when it is cancelled. */
  readonly directCalls: CancellationScope
}

/**
 * Executes every tool_use that has no result, and returns one tool_result for each, in the same order. Direct calls run in
 * parallel. Cells share one session and run one after the other, beside the direct calls.
 *
 * @param suspended the cell to continue
 * @param history the messages, of which `read_more` reads results
 */
export async function executeToolUses(
  run: Run,
  runtime: CodeRuntime,
  pending: PendingToolUses,
  suspended: SuspendedCell | undefined,
  interruption: ToolUseInterruption,
  history: ValueLog | null,
): Promise<PendingBlock[]> {
  let cells: Promise<unknown> = Promise.resolve()
  const runInOrder = <T>(runCell: () => Promise<T>): Promise<T> => {
    const result = cells.then(runCell)
    cells = result
    return result
  }
  const { toolUses, calls, results } = pending
  const executeToolUse = (use: ToolUseBlock, position: number): Promise<PendingBlock> => {
    if (use.name === executeCodeTool) {
      return runInOrder(async () => {
        if (interruption.isRequested()) return toolResult(use, notStarted, true)
        pending.currentCell = use.id
        return executeCell(run, runtime, use, suspended?.toolUseId === use.id ? suspended.cell : undefined)
      })
    }
    const record = (block: PendingBlock): PendingBlock => (results[use.id] = block)
    const engineTool = requestEngineTool(run, use, history)
    if (engineTool) return runInterruptible(interruption, engineTool, () => record(toolResult(use, interrupted, true)))
    const call = () => executeDirectCall(run, use, calls[use.id], position + 1, record)
    return runInterruptible(interruption, call, () => record(toolResult(use, interrupted, true)))
  }
  if (toolUses.every(({ name }) => name !== executeCodeTool)) showProgress(run, { type: 'direct_calls' })
  return Promise.all(toolUses.map(async (use, position) => (results[use.id] ??= await executeToolUse(use, position))))
}

const notStarted = '[stopped] a person interrupted the work before this code started'
const interrupted = '[stopped] a person interrupted the work during this call; its effect may have happened'

async function runInterruptible<Result>(
  { directCalls, isRequested }: ToolUseInterruption,
  work: () => Promise<Result>,
  onInterrupt: () => Result,
): Promise<Result> {
  try {
    return await directCalls.run(work)
  } catch (thrown) {
    if (isCancellation(thrown) && isRequested() && !CancellationScope.current().consideredCancelled)
      return onInterrupt()
    throw thrown
  }
}

async function executeCell(
  run: Run,
  runtime: CodeRuntime,
  use: ToolUseBlock,
  suspended: CellState | undefined,
): Promise<PendingBlock> {
  const code = codeOf(use)
  if (code === undefined) return toolResult(use, `${executeCodeTool} takes {"code": "..."}`, true)
  const { text, isError } = toToolResultText(
    await (suspended ? resumeCell(run, runtime, suspended) : runCell(run, runtime, code)),
  )
  return toolResult(use, text, isError)
}

function codeOf({ input }: ToolUseBlock): Externalizable<string> | undefined {
  const { code } = input
  return typeof code === 'string' || (code !== undefined && isExternal(code)) ? code : undefined
}

/** What executes a tool of the engine: no call, so nothing of it counts or needs an approval. Undefined for others. */
function requestEngineTool(
  { config }: Run,
  use: ToolUseBlock,
  history: ValueLog | null,
): (() => Promise<PendingBlock>) | undefined {
  const { timeouts, limits } = config
  const limit = limits.outputCharacters
  const toBlock = ({ text, note, isError }: EngineToolResult) =>
    toolResult(use, isError ? note : { parts: [text], limit, suffix: note }, isError)
  if (use.name === readMoreTool && config.readMore && history !== null)
    return async () => toBlock(await readMore({ history, input: use.input, limit }, timeouts))
  if (use.name === searchToolsTool && hasToolSearch(config))
    return async () => toBlock(await searchTools({ tools: documentedToolSet(config), input: use.input }, timeouts))
  return undefined
}

async function executeDirectCall(
  run: Run,
  use: ToolUseBlock,
  call: DescribedCall | undefined,
  index: number,
  record: (block: PendingBlock) => PendingBlock,
): Promise<PendingBlock> {
  let result = toolResult(use, `there is no tool named ${use.name}`, true)
  if (!call) return record(result)
  const limit = run.config.limits.outputCharacters
  await executeCall(run, call, 'direct', { turn: run.counts.turns, cell: 0, index }, ({ outcome }) => {
    result = record(toolResult(use, outcomeText(outcome, limit), outcome.status !== 'ok'))
  })
  return result
}

function outcomeText(outcome: CallOutcome, limit: number): string | TextParts {
  if (outcome.status !== 'ok') return truncateMiddle(`[${outcome.status}] ${outcome.message}`, limit)
  const { value } = outcome
  const text = isExternal(value) ? undefined : jsonToText(value)
  return text !== undefined && text.length <= limit ? text : { parts: [value], limit, suffix: '' }
}

export function toolResult({ id }: ToolUseBlock, text: string | TextParts, isError: boolean): PendingBlock {
  const base = { type: 'tool_result', tool_use_id: id, ...(isError ? { is_error: true } : {}) } as const
  if (typeof text !== 'string') return { ...base, externalContent: text }
  // The API refuses an empty text in some positions.
  return { ...base, content: text === '' ? '(empty)' : text }
}
