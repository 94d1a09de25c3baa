import { z } from 'zod'
import type { JsonObject } from '../../common/json.js'
import { heldString } from './elsewhere.js'

/**
 * What we read of our own payloads. A history may be of an older or a newer version: fields that are not needed are not
 * asked for, and what does not fit is left out of the tree instead of breaking it.
 */
const jsonObject = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value))

export const agentInput = z.object({ question: z.string() })
export const programInput = z.object({ source: z.string() })

const usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
})
const counts = { turns: z.number(), cells: z.number(), toolCalls: z.number(), usage, costUsd: z.number().nullable() }

const agentStatus = z.enum(['answered', 'turn_limit', 'refused', 'truncated', 'context_full', 'no_answer'])
export const agentResult = z.object({ status: agentStatus, answer: z.string(), ...counts })

const ended = { output: z.string(), error: z.string() }
const cellOutcome = z.discriminatedUnion('status', [
  z.object({ status: z.literal('ok'), output: z.string() }),
  z.object({ status: z.literal('code_error'), ...ended }),
  z.object({ status: z.literal('timed_out'), ...ended, sessionKept: z.boolean() }),
  z.object({ status: z.literal('limit_exceeded'), ...ended, sessionKept: z.boolean() }),
  z.object({ status: z.literal('stopped'), ...ended, sessionKept: z.boolean() }),
  z.object({ status: z.literal('diverged'), ...ended }),
  z.object({ status: z.literal('lost'), ...ended }),
])
export const programResult = z.object({ outcome: cellOutcome, ...counts })

export const plan = z.object({
  tools: z.array(z.object({ name: z.string(), effect: z.enum(['read', 'idempotent', 'once']) })),
  model: z.object({ name: z.string() }),
  backend: z.string(),
})

/** Values are not kept: a result may be a megabyte, and the tool's own activity has it. */
const outcome = z.object({
  status: z.enum(['ok', 'tool_error', 'invalid_arguments', 'denied', 'timed_out', 'outcome_unknown', 'cancelled']),
  message: z.string().optional(),
})

const describedCall = z.object({
  index: z.number(),
  tool: z.string(),
  arguments: jsonObject,
  summary: z.string(),
  refused: outcome.nullable(),
})

const block = z.looseObject({ type: z.string() })
/** Once the whole conversation was sent with every turn. */
export const modelInput = z.union([
  z.object({ turn: z.number(), said: z.array(block) }),
  z.object({ turn: z.number(), messages: z.array(z.object({ role: z.string(), content: z.array(block) })) }),
])
export const heldText = z.object({ parts: z.array(z.unknown()), limit: z.number(), after: z.string() })
export const modelResult = z.object({
  reply: z.object({
    model: z.string(),
    content: z.array(block),
    stopReason: z.string(),
    usage,
    costUsd: z.number().nullable(),
  }),
  calls: z.record(z.string(), describedCall).default({}),
  conversationBytes: z.number().optional(),
})

const session = z.object({ epoch: z.number(), backend: z.string() })
const after = z.enum(['nothing', 'parking', 'loss'])
/** Older histories don't say after what: of a second sandbox it was a loss, or looks like one. */
export const openInput = z.object({ session, after: after.optional() })
export const openResult = z.object({ session, description: z.string() })

const stepInput = z.discriminatedUnion('type', [
  z.object({ type: z.literal('cell'), cell: z.number(), source: heldString }),
  z.object({ type: z.literal('results'), results: z.array(z.object({ index: z.number(), outcome })) }),
  z.object({ type: z.literal('stop') }),
])
export const advanceInput = z.object({ step: z.object({ number: z.number(), input: stepInput }).nullable() })
export const advanceResult = z.discriminatedUnion('type', [
  z.object({ type: z.literal('suspended'), calls: z.array(describedCall), output: heldString }),
  z.object({ type: z.literal('completed'), output: heldString }),
  z.object({
    type: z.literal('failed'),
    kind: z.enum(['code_error', 'timed_out', 'limit_exceeded', 'stopped']),
    error: z.string(),
    output: heldString,
  }),
  z.object({ type: z.literal('lost'), cause: z.string(), reason: z.string() }),
  z.object({ type: z.literal('repeated') }),
  z.object({ type: z.literal('unrestored'), reason: z.string() }),
  z.object({ type: z.literal('diverged'), reason: z.string() }),
])

const cellState = z.object({ number: z.number(), turn: z.number() })
/** What a run that goes on in a fresh history is told of the time before: the second argument of its workflow. */
export const runState = z.object({
  plan,
  counts: z.object(counts),
  notebook: z.object({ session: z.object({ ref: session }) }).optional(),
  cell: cellState.optional(),
  left: z.object({ cell: cellState }).nullish(),
})

export const toolInput = z.object({
  tool: z.string(),
  caller: z.enum(['direct', 'code_execution']),
  position: z.object({ turn: z.number(), cell: z.number(), index: z.number() }),
  idempotencyKey: z.string(),
  arguments: jsonObject,
})

export type RunState = z.infer<typeof runState>
export type Block = z.infer<typeof block>
export type ToolInput = z.infer<typeof toolInput>
export type DescribedCall = z.infer<typeof describedCall>
export type AdvanceResult = z.infer<typeof advanceResult>
export type StepInput = z.infer<typeof stepInput>
export type DeliveredOutcome = z.infer<typeof outcome>
