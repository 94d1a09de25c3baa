import { z } from 'zod'
import type { StoredFile } from '../../../common/files/files.js'
import type { JsonObject, JsonValue } from '../../../common/json/json.js'
import { budgetItems } from '../../../common/budget/budget.js'
import { byteCount, digest, externalizableString, externalValueShape } from '../values/external-values.js'

/**
 * The parts of payloads that the tree reads. Only these fields are validated. The tree leaves out a payload that does
 * not match.
 */
const jsonObject = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value))

export const agentInput = z.object({ question: z.string() })
/** The input of any run. */
export const requestedInput = z.object({ context: jsonObject.exactOptional() })
/** The pause in the memo of a run. */
export const budgetPause = z.object({
  item: z.enum(budgetItems),
  amount: z.number().exactOptional(),
  since: z.number(),
})
export const programInput = z.object({ source: z.string() })

const usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
})
const subagents = z.object({ runs: z.number(), turns: z.number(), cells: z.number(), toolCalls: z.number() })
const counts = {
  turns: z.number(),
  cells: z.number(),
  toolCalls: z.number(),
  usage,
  costUsd: z.number().nullable(),
  subagents: subagents.exactOptional(),
}

const compensation = z
  .object({
    compensated: z.number(),
    failed: z.number(),
    failures: z.array(
      z.object({ tool: z.string(), call: z.string(), idempotencyKey: z.string(), message: z.string() }),
    ),
  })
  .exactOptional()

const agentStatus = z.enum([
  'answered',
  'turn_limit',
  'budget_spent',
  'withheld',
  'refused',
  'truncated',
  'context_full',
  'no_answer',
  'invalid_answer',
  'gave_up',
  'invalid_plan',
  'tool_error',
])
const planStep = z.object({
  id: z.string(),
  task: z.string(),
  dependsOn: z.array(z.string()),
  status: z.enum(['pending', 'running', 'done', 'gave_up', 'failed', 'skipped']),
  result: z.string().nullable(),
})
export const agentResult = z.object({
  status: agentStatus,
  answer: z.string(),
  output: z.custom<JsonValue>().exactOptional(),
  compensation,
  plan: z.array(planStep).exactOptional(),
  ...counts,
})

const stderr = z.array(z.tuple([z.number(), z.number()])).exactOptional()
const cellUsage = z.object({
  runMs: z.number(),
  cpuMs: z.number().exactOptional(),
  peakMemoryBytes: z.number().exactOptional(),
})
const measures = { exitCode: z.number().exactOptional(), usage: cellUsage.exactOptional() }
const printed = { output: z.string(), stderr, durationMs: z.number().exactOptional(), ...measures }
const ended = { ...printed, error: z.string() }
const cellOutcome = z.discriminatedUnion('status', [
  z.object({ status: z.literal('ok'), ...printed }),
  z.object({ status: z.literal('code_error'), ...ended }),
  z.object({ status: z.literal('timed_out'), ...ended, sessionKept: z.boolean() }),
  z.object({ status: z.literal('limit_exceeded'), ...ended, sessionKept: z.boolean() }),
  z.object({ status: z.literal('stopped'), ...ended, sessionKept: z.boolean() }),
  z.object({ status: z.literal('diverged'), ...ended }),
  z.object({ status: z.literal('lost'), ...ended }),
])
export const programResult = z.object({ outcome: cellOutcome, compensation, ...counts })

const storedFile: z.ZodType<StoredFile> = z.object({
  path: z.string(),
  bytes: byteCount,
  sha256: digest,
  mediaType: z.string(),
  parts: z.array(externalValueShape),
  pixels: z.object({ width: z.number(), height: z.number() }).exactOptional(),
  preview: z.string().exactOptional(),
})
/** The argument of the update that uploads files. */
export const uploads = z.array(storedFile)
const keptFiles = z.object({
  files: z.array(storedFile),
  lost: z.array(z.object({ path: z.string(), problem: z.string() })),
})
export const storeFilesResult = z.discriminatedUnion('type', [
  z.object({ type: z.literal('stored'), ...keptFiles.shape }),
  z.object({ type: z.literal('gone') }),
])

export const runConfig = z.object({
  tools: z.array(
    z.object({
      name: z.string(),
      effect: z.enum(['read', 'idempotent', 'once']),
      deferred: z.object({ expiresMs: z.number() }).optional(),
      concurrency: z.number().optional(),
      lock: z.object({ sharedAs: z.string().optional() }).optional(),
      attempts: z.number().optional(),
    }),
  ),
  model: z.object({ name: z.string() }),
  backend: z.string(),
  files: z.object({ uploads }).optional(),
})

/** An outcome without its value: a result may be large, and the tool's activity has it. */
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
const lostCode = z.object({ uses: z.array(z.object({ id: z.string() })) })
export const modelInput = z.object({
  turn: z.number(),
  planStep: z.string().exactOptional(),
  message: z.string().exactOptional(),
  pending: z.array(block),
  hosted: z.object({ lost: lostCode.optional() }).optional(),
})
export const textParts = z.object({ parts: z.array(z.unknown()), limit: z.number(), suffix: z.string() })
export const modelResult = z.object({
  reply: z.object({
    model: z.string(),
    content: z.array(block),
    stopReason: z.string(),
    stopSequence: z.string().exactOptional(),
    usage,
    costUsd: z.number().nullable(),
    contextEdits: z.array(jsonObject).exactOptional(),
  }),
  calls: z.record(z.string(), describedCall),
  conversationBytes: z.number(),
})

export const compactionInput = z.object({ turn: z.number(), tokens: z.number() })
export type CompactionOutcome = z.infer<typeof compactionResult>
export const compactionResult = z.object({
  tokens: z.number(),
  shortened: z.number(),
  summarized: z.number(),
  problem: z.string().optional(),
  summary: z.object({ usage, costUsd: z.number().nullable() }).optional(),
})

export type SampledUsage = z.infer<typeof sampleResult>
export const sampleResult = z.object({ usage, costUsd: z.number().nullable() })

const session = z.object({ epoch: z.number(), backend: z.string() })
const openReason = z.enum(['new', 'unpark', 'rebuild'])

const stepInput = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('cell'),
    cell: z.number(),
    source: externalizableString,
    language: z.string().optional(),
  }),
  z.object({ type: z.literal('results'), results: z.array(z.object({ index: z.number(), outcome })) }),
  z.object({ type: z.literal('stop') }),
  z.object({ type: z.literal('file'), path: z.string(), inCell: z.boolean().optional() }),
])
const step = z.object({ number: z.number(), now: z.number().optional(), input: stepInput })
export const openInput = z.object({ session, reason: openReason, firstStep: z.object({ step }).optional() })
export const executeStepInput = z.object({
  step: step.nullable(),
  localCalls: z.object({ turn: z.number(), cell: z.number() }).optional(),
})
const stepOutput = { output: externalizableString, stderr }
export const stepResult = z.discriminatedUnion('type', [
  z.object({ type: z.literal('suspended'), calls: z.array(describedCall), ...stepOutput }),
  z.object({ type: z.literal('completed'), ...stepOutput, ...measures }),
  z.object({
    type: z.literal('failed'),
    kind: z.enum(['code_error', 'timed_out', 'limit_exceeded', 'stopped']),
    error: z.string(),
    ...stepOutput,
    ...measures,
  }),
  z.object({ type: z.literal('lost'), cause: z.string(), reason: z.string() }),
  z.object({ type: z.literal('rebuilt') }),
  z.object({ type: z.literal('restore_failed'), reason: z.string() }),
  z.object({ type: z.literal('diverged'), reason: z.string() }),
])

export const openResult = z.object({ session, description: z.string(), firstStep: stepResult.optional() })

/** Signal to the workflow that executes a cell in its session. */
export const executeCellMessage = z.object({
  type: z.literal('execute'),
  id: z.string(),
  cell: z.number(),
  session: z.string().optional(),
  source: externalizableString,
  cellLanguage: z.string().optional(),
})
/** Signal with the end of such a cell. */
export const cellReply = z.object({
  id: z.string(),
  result: z.discriminatedUnion('type', [
    z.object({
      type: z.literal('ended'),
      end: z.object({
        status: z.enum(['ok', 'code_error', 'timed_out', 'limit_exceeded', 'stopped', 'diverged', 'lost']),
        error: z.string().optional(),
        ...measures,
      }),
      output: z.union([z.string(), textParts]),
      kept: keptFiles.optional(),
      returned: z.array(storedFile).optional(),
      toolCalls: z.number(),
    }),
    z.object({ type: z.literal('failed'), message: z.string() }),
  ]),
})

const followUps = z.array(
  z.object({
    number: z.number(),
    now: z.number(),
    waited: z.number(),
    results: z
      .array(z.object({ index: z.number(), outcome: outcome.extend({ value: z.unknown().optional() }) }))
      .optional(),
    result: stepResult.optional(),
  }),
)
/** Result of a step with follow-up steps. */
export const followedStep = z.object({ followUps })
/** Result of a call, perhaps with follow-up steps. */
export const followedCall = z.object({ value: z.unknown(), followUps, file: storedFile.optional() })
/** The same result without the follow-up steps. */
export const resultOfFollowedCall = followedCall.pick({ value: true, file: true })

const cellState = z.object({ number: z.number(), turn: z.number() })
/** The state that continue-as-new carries over: the second argument of the workflow. */
export const runState = z.object({
  config: runConfig,
  counts: z.object(counts),
  codeRuntime: z.object({ session: z.object({ sandbox: z.object({ ref: session }) }) }).optional(),
  cell: cellState.optional(),
  suspendedCell: z.object({ cell: cellState }).nullish(),
  files: z
    .object({
      uploads,
      artifacts: z.array(storedFile),
      returned: z.array(z.object({ file: storedFile })).optional(),
    })
    .optional(),
})

const position = z.object({ turn: z.number(), cell: z.number(), index: z.number() })
export const resultCheckInput = z.object({ position })
export const remoteArguments = jsonObject
/** The call in the memo of a workflow that executes the call of a remote tool. */
export const remoteCallMemo = z.object({
  tool: z.string(),
  position,
  idempotencyKey: z.string(),
  isSubagent: z.boolean().optional(),
})

export const toolInput = z.object({
  tool: z.string(),
  caller: z.enum(['direct', 'code_execution']),
  position,
  idempotencyKey: z.string().optional(),
  arguments: jsonObject,
  followUp: z.object({ now: z.number() }).optional(),
  withLabels: z.boolean().optional(),
  returnsFile: z.boolean().optional(),
  deferred: z.object({ firstExecutionRunId: z.string(), signature: z.string() }).optional(),
})

export const approvalInput = toolInput.pick({ tool: true, caller: true, position: true, arguments: true }).extend({
  idempotencyKey: z.string(),
  deferred: z.object({ firstExecutionRunId: z.string(), signature: z.string() }),
  expiresMs: z.number(),
})
export const compensateInput = z.object({ tool: z.string(), position })

export const questionInput = approvalInput.extend({
  number: z.number(),
  question: z.object({
    from: z.string(),
    message: z.string(),
    schema: jsonObject.optional(),
    url: z.string().optional(),
  }),
})

export type QuestionInput = z.infer<typeof questionInput>

export const approvalResult = z.object({ isNeeded: z.boolean() })

export type ApprovalInput = z.infer<typeof approvalInput>
export type RunConfig = z.infer<typeof runConfig>
export type RunState = z.infer<typeof runState>
export type Block = z.infer<typeof block>
export type ToolInput = z.infer<typeof toolInput>
export type DescribedCall = z.infer<typeof describedCall>
export type StepResult = z.infer<typeof stepResult>
export type FollowUp = z.infer<typeof followUps>[number]
export type SharedCell = z.infer<typeof executeCellMessage>
export type CellReply = z.infer<typeof cellReply>
export type StepInput = z.infer<typeof stepInput>
export type DeliveredOutcome = z.infer<typeof outcome>
