import type { CallNode, CellNode, RunTree } from '../../client/index.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import type { Usage } from '../../common/agent/messages.js'

/** A call of a run, for checks. */
export interface ObservedCall {
  readonly tool: string
  readonly arguments: JsonObject
  /** `ok`, `tool_error`, `denied` and so on. */
  readonly status: string
  /** The call came from code, or directly from the model. */
  readonly caller: string
  readonly turn: number
  readonly cell: number
  /** The start of the result as JSON. */
  readonly resultPreview: string | undefined
  readonly message: string | undefined
}

export interface ObservedCell {
  readonly number: number
  readonly turn: number
  readonly code: string
  readonly status: string
  readonly output: string
}

/** What a run did, according to its history. This is what checks get. */
export interface ObservedRun {
  readonly workflowId: string
  /** `answered`, or another status of an agent. */
  readonly status: string
  readonly answer: string
  readonly output?: JsonValue
  /** In the order in which they were made, without those of sub-agents. */
  readonly calls: readonly ObservedCall[]
  readonly cells: readonly ObservedCell[]
}

/** Amounts of a sample. Those of sub-agents are included. */
export interface SampleUsage {
  readonly turns: number
  readonly cells: number
  readonly toolCalls: number
  readonly usage: Usage
  /** US dollars. Null: unknown. */
  readonly costUsd: number | null
}

export function observe(tree: RunTree, result: Pick<ObservedRun, 'status' | 'answer' | 'output'>): ObservedRun {
  const { workflowId, turns } = tree
  const cells = turns.flatMap(({ number, cells: all }) => all.map((cell) => observeCell(cell, number)))
  const nodes = turns.flatMap((turn) => [...turn.directCalls, ...turn.cells.flatMap(({ calls }) => calls)])
  return { workflowId, ...result, cells, calls: nodes.map(observeCall) }
}

function observeCall(node: CallNode): ObservedCall {
  const { tool, status, caller, position, resultPreview, message } = node
  const { turn, cell } = position
  return { tool, arguments: node.arguments, status, caller, turn, cell, resultPreview, message }
}

function observeCell({ number, code, status, output }: CellNode, turn: number): ObservedCell {
  return { number, turn, code, status, output }
}

/** Whether the history has a reply of the model. */
export function hasModelReply({ turns }: Pick<RunTree, 'turns'>): boolean {
  return turns.some(({ model }) => model?.status === 'ok')
}

/** Whether a model works whose usage is not in the history yet: that of the run, or of one of its sub-agents. */
export function hasOpenUsage({ phase, turns }: Pick<RunTree, 'phase' | 'turns'>): boolean {
  const calls = turns.flatMap(({ directCalls, cells }) => [...directCalls, ...cells.flatMap((cell) => cell.calls)])
  const isOpen = ({ workflowId, status }: CallNode): boolean =>
    workflowId !== undefined && (status === 'running' || status === 'waiting')
  return phase.type === 'model' || calls.some(isOpen)
}

/**
 * Whether the model checked its work in a way that the history shows: a cell that ended without an error has an
 * `assert` statement, or a call of a tool of `verifyWith` succeeded. A model that only reads its printed output again
 * is not counted.
 */
export function hasVerified(
  { cells, calls }: Pick<ObservedRun, 'cells' | 'calls'>,
  verifyWith: readonly string[],
): boolean {
  return (
    cells.some(({ status, code }) => status === 'ok' && /^\s*assert\b/m.test(code)) ||
    calls.some(({ tool, status }) => status === 'ok' && verifyWith.includes(tool))
  )
}
