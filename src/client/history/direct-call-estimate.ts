import { contextTokens } from '../../common/runs.js'
import { bytesOf } from './elsewhere.js'
import type { CallNode, ModelAnswer, ModelNode, RunTree, TurnNode } from './tree.js'

/** What a run would have taken had the model made every call itself. */
export interface DirectCallEstimate {
  readonly turns: number
  /** Tokens the model would have read, over all turns, cached ones included: to be held against `contextTokens(usage)`. */
  readonly inputTokens: number
}

/** Where a run is too short to be measured: English and JSON have 3 to 4; the larger number gives fewer tokens. */
const usualBytesPerToken = 4
const plausible = { least: 2, most: 6 } as const
/** A conversation that has grown by less tells of block overhead, not of its text. */
const measurableBytes = 200

type Answered = ModelNode & ModelAnswer

/**
 * Rebuilds the conversation as it would have been with direct calls: the calls that code made together (one suspension) are
 * one turn of parallel `tool_use` blocks, and every result stands in full in the context of all later turns. The prompt is
 * the run's own first one.
 *
 * An estimate: the run's own bytes per token turn bytes into tokens. It is low where the code computes (a model would have to
 * think, or err), in JSON overhead of blocks and in schemas that a prompt for direct calls needs; it is high where code makes
 * independent calls one by one that a model would make at once.
 *
 * @returns undefined when no model has answered yet
 */
export function directCallEstimate(tree: RunTree): DirectCallEstimate | undefined {
  const answered = tree.turns.flatMap(({ model }) => (model?.status === 'ok' ? [model] : []))
  const [first] = answered
  if (!first) return undefined
  const prompt = contextTokens(first.usage)
  const bytesPerToken = measureBytesPerToken(answered)
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

/** The turns that would stand for one turn of the run: the bytes that each adds to the conversation. */
function directTurns({ cells, directCalls }: TurnNode, model: Answered): readonly number[] {
  if (cells.length === 0 && directCalls.length === 0) return [model.replyBytes]
  const suspensions = cells.flatMap(({ calls }) => madeTogether(calls))
  const [together = [], ...later] = suspensions
  // What the model called itself in this turn it calls along with the first of the code's.
  const batches = [[...directCalls, ...together], ...later].filter((calls) => calls.length > 0)
  return batches.map((calls, place) => (place === 0 ? bytesOf(model.text) : 0) + sum(calls.map(bytesOfCall)))
}

function madeTogether(calls: readonly CallNode[]): readonly CallNode[][] {
  const steps = [...new Set(calls.map(({ step }) => step))]
  return steps.map((step) => calls.filter((call) => call.step === step))
}

function bytesOfCall(call: CallNode): number {
  return bytesOf(call.tool) + bytesOf(call.arguments) + call.resultBytes + bytesOf(call.message ?? '')
}

/** By how the conversation grew over the run; else by its first reply; else by rule of thumb. */
function measureBytesPerToken(answered: readonly Answered[]): number {
  const [first, last] = [answered[0], answered.at(-1)]
  if (!first || !last) return usualBytesPerToken
  const bytes = last.requestBytes - first.requestBytes
  const tokens = contextTokens(last.usage) - contextTokens(first.usage)
  if (bytes >= measurableBytes && tokens > 0) return keepPlausible(bytes / tokens)
  const { replyBytes, usage } = first
  if (replyBytes >= measurableBytes && usage.outputTokens > 0) return keepPlausible(replyBytes / usage.outputTokens)
  return usualBytesPerToken
}

function keepPlausible(bytesPerToken: number): number {
  return Math.min(Math.max(bytesPerToken, plausible.least), plausible.most)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
