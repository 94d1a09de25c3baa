import { promptTokens } from '../../common/run/runs.js'
import { byteLengthOf } from '../../client/run-tree/values/external-values.js'
import type { CallNode, ModelReplySummary, ModelNode, RunTree, TurnNode } from '../../client/run-tree/tree.js'

/** The turns and tokens of a run in which the model makes every call itself. */
interface DirectCallEstimate {
  readonly turns: number
  /** Input tokens over all turns, cached ones included. Compare with `promptTokens(usage)`. */
  readonly inputTokens: number
}

/** For runs that are too short to be measured. English and JSON have 3 to 4; the larger number gives fewer tokens. */
const defaultBytesPerToken = 4
const plausibleRange = { least: 2, most: 6 } as const
/** Smaller growth of a conversation is mostly the overhead of blocks. */
const minMeasurableBytes = 200

type CompletedModelNode = ModelNode & ModelReplySummary

/**
 * Estimates the conversation with direct calls. The calls of one suspension become one turn of parallel `tool_use`
 * blocks, and every result is part of the context of all later turns. The prompt is that of the run's first turn.
 *
 * The estimate converts bytes to tokens by the run's own bytes per token. It is too low where the code computes (a
 * model would have to reason), and because it leaves out the JSON overhead of blocks and the schemas of direct tools.
 * It is too high where code makes independent calls one by one that a model would make in parallel.
 *
 * @returns undefined before the first model reply
 */
export function estimateDirectCalls(tree: RunTree): DirectCallEstimate | undefined {
  const replies = tree.turns.flatMap(({ model }) => (model?.status === 'ok' ? [model] : []))
  const [first] = replies
  if (!first) return undefined
  const prompt = promptTokens(first.usage)
  const bytesPerToken = measureBytesPerToken(replies)
  let turns = 0
  let tokens = 0
  let addedBytes = 0
  for (const turn of tree.turns) {
    if (turn.model?.status !== 'ok') continue
    for (const bytes of directTurns(turn, turn.model)) {
      turns += 1
      tokens += prompt + addedBytes / bytesPerToken
      addedBytes += bytes
    }
  }
  return { turns, inputTokens: Math.round(tokens) }
}

/** Replaces one turn of the run by turns with direct calls; returns the bytes that each adds to the conversation. */
function directTurns({ cells, directCalls }: TurnNode, model: CompletedModelNode): readonly number[] {
  if (cells.length === 0 && directCalls.length === 0) return [model.replyBytes]
  const suspensions = cells.flatMap(({ calls }) => groupByStep(calls))
  const [together = [], ...later] = suspensions
  // The model's own calls of this turn join the first calls of the code.
  const batches = [[...directCalls, ...together], ...later].filter((calls) => calls.length > 0)
  return batches.map((calls, index) => (index === 0 ? byteLengthOf(model.text) : 0) + sum(calls.map(callByteLength)))
}

function groupByStep(calls: readonly CallNode[]): readonly CallNode[][] {
  const steps = [...new Set(calls.map(({ step }) => step))]
  return steps.map((step) => calls.filter((call) => call.step === step))
}

function callByteLength(call: CallNode): number {
  return byteLengthOf(call.tool) + byteLengthOf(call.arguments) + call.resultBytes + byteLengthOf(call.message ?? '')
}

/** Measures the growth of the conversation over the run, else its first reply; else uses the default. */
function measureBytesPerToken(replies: readonly CompletedModelNode[]): number {
  const [first, last] = [replies[0], replies.at(-1)]
  if (!first || !last) return defaultBytesPerToken
  const bytes = last.requestBytes - first.requestBytes
  const tokens = promptTokens(last.usage) - promptTokens(first.usage)
  if (bytes >= minMeasurableBytes && tokens > 0) return clampToPlausible(bytes / tokens)
  const { replyBytes, usage } = first
  if (replyBytes >= minMeasurableBytes && usage.outputTokens > 0)
    return clampToPlausible(replyBytes / usage.outputTokens)
  return defaultBytesPerToken
}

function clampToPlausible(bytesPerToken: number): number {
  return Math.min(Math.max(bytesPerToken, plausibleRange.least), plausibleRange.most)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
