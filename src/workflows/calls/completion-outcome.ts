import type { ApplicationFailure } from '@temporalio/workflow'
import { parseApproval } from '../../common/calls/approvals.js'
import type { ToolCallInput } from '../../common/calls/calls.js'
import type { QuestionAnswer } from '../../common/calls/questions.js'
import type { DeferredResult } from '../../common/calls/deferred-calls.js'
import { defined } from '../../common/defined.js'
import { refOf } from '../../common/json/external-value.js'
import { clientToolRole, type Role } from '../../common/names.js'
import { formatDuration } from '../../common/text/format.js'
import type { JsonValue } from '../../common/json/json.js'
import { type CallOutcome, outcomeUnknown } from '../../common/calls/outcomes.js'
import type { RunConfig } from '../../common/run/run-config.js'
import type { ToolConfig } from '../../common/calls/tool-config.js'
import type { Run } from '../run/run.js'
import { checkAnswer, checkToolResult, prepareArguments } from '../temporal/activities.js'
import { rejection } from '../temporal/failures.js'
import type { WaitingCall } from './waiting-calls.js'

type Call = Pick<ToolCallInput, 'tool' | 'position'>

/**
 * Returns the outcome of a call with this result. The outcome of an approval has the approval as its value.
 *
 * @throws ActivityFailure, ApplicationFailure when the result is not valid
 */
export async function completedOutcome(
  run: Run,
  { tool, position }: Call,
  isApproval: boolean,
  result: DeferredResult,
): Promise<CallOutcome> {
  const { config } = run
  if (isApproval) return approvalOutcome(config, { tool, position }, result)
  if (result.type === 'failure') return { status: 'tool_error', message: result.message }
  const { digest, names, outputSchemas, language } = config.toolSet
  const tools = { digest, ...defined({ names, outputSchemas, language }) }
  const input = { tool, position, value: result.value, tools, resultBytes: config.limits.resultBytes }
  const value = await checkToolResult(input, config.timeouts, resultRole(config))
  run.addStoredBytes(refOf(value)?.bytes ?? 0)
  return { status: 'ok', value }
}

/**
 * Returns the answer to a question of the tool of a call, as the value of an outcome.
 *
 * @throws ActivityFailure when the answer does not fit the schema of the question: the call still waits
 */
export async function answerOutcome(
  { timeouts }: RunConfig,
  { tool, position, asked }: WaitingCall,
  result: DeferredResult,
): Promise<CallOutcome> {
  if (result.type === 'failure') return answered({ action: result.cancel ? 'cancel' : 'decline' })
  const [question] = asked?.open ?? []
  if (!question) throw noLongerWaiting()
  return answered(await checkAnswer({ tool, position, question, value: result.value }, timeouts))
}

function answered(answer: QuestionAnswer): CallOutcome {
  return { status: 'ok', value: { ...answer } as JsonValue }
}

/** The answer to a question that has expired. */
export const unanswered = answered({ action: 'cancel' })

/** Returns the role of the workers that check the results of the run, and report decisions on its calls. */
export function resultRole({ toolSet: { source } }: Pick<RunConfig, 'toolSet'>): Role {
  return source === undefined ? 'tools' : clientToolRole
}

async function approvalOutcome(
  { toolSet: { digest, documentation, language }, timeouts }: RunConfig,
  { tool, position }: Call,
  result: DeferredResult,
): Promise<CallOutcome> {
  if (result.type === 'failure') {
    const message = `${tool} was not approved: ${result.message}`
    return { status: 'denied', message, ...(result.compensate && { compensates: true }) }
  }
  const approval = parseApproval(result.value)
  if (!approval) throw rejection('RUN_INPUT_INVALID', 'the call waits for an approval, and this is none')
  const { arguments: args } = approval
  // This only checks the arguments, while a person can still correct them. The tool gets them unchanged.
  const tools = { digest, documentation, ...defined({ language }) }
  if (args) await prepareArguments({ tool, position, arguments: args, tools }, timeouts)
  return { status: 'ok', value: { ...approval } as JsonValue }
}

export function expiryOutcome({ tools, approvals }: RunConfig, name: string, isApproval: boolean): CallOutcome {
  if (isApproval) {
    return { status: 'denied', message: `nobody approved ${name} within ${formatDuration(approvals.expiresMs)}` }
  }
  const { effect, deferred } = tools.find((each) => each.name === name) ?? unknownTool
  const why = `no result arrived within ${formatDuration(deferred?.expiresMs ?? 0)}`
  return effect === 'once' ? outcomeUnknown(name, why) : { status: 'timed_out', message: `${name} has expired: ${why}` }
}

const unknownTool: Pick<ToolConfig, 'effect' | 'deferred'> = { effect: 'once' }

export function noLongerWaiting(): ApplicationFailure {
  return rejection('CALL_NOT_FOUND', 'no call with this token waits: its code has ended or was stopped')
}
