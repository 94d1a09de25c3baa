import { ApplicationFailure } from '@temporalio/workflow'
import { callDigest } from '../../common/calls/call-identity.js'
import { canonicalJson } from '../../common/json/canonical-json.js'
import type { ErrorCode } from '../../common/errors.js'
import { externalValueKey, isExternal } from '../../common/json/external-value.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import type { CallOutcome, CallStatus } from '../../common/calls/outcomes.js'
import type { RunOptions } from '../../common/run/runs.js'
import { jsonToText, toTemporalSummary } from '../../common/text/text.js'
import { executeCall } from '../calls/pipeline.js'
import { RunCall } from '../calls/run-call.js'
import type { RunCalls } from '../calls/run-calls.js'
import { openEmbeddedRun } from '../start-run.js'
import { loadValue } from '../temporal/activities.js'

export type ToolCallOptions = Pick<RunOptions, 'context'>

/**
 * The part of a tool's type from which the types of its arguments and its result are derived. The type that
 * `defineTool` returns is assignable to it.
 */
export interface ToolType {
  readonly input: { readonly _zod: { readonly input: unknown } }
  readonly output: { readonly _zod: { readonly output: unknown } }
}

/** The type of a tool when the workflow knows only its name. */
export interface AnyToolType extends ToolType {
  readonly input: { readonly _zod: { readonly input: JsonObject } }
  readonly output: { readonly _zod: { readonly output: JsonValue } }
}

/** A workflow gets the result as a payload, and keeps it in memory. */
const maxResultBytes = 2 * 1024 * 1024

/** The run of all calls that have the same options. */
interface Caller {
  readonly calls: RunCalls
  count: number
}

const callers = new Map<string, Promise<Caller>>()

/**
 * Calls a tool of the worker's configuration, as an activity of this workflow, or as a remote tool says. The checks,
 * the timeout, the retry policy and the idempotency key are those of a direct call of a model. A deferred tool returns
 * its result when the call is completed. No limit of a run counts these calls.
 *
 * `await callTool<typeof getOrders>('get_orders', { customer: 'acme' })` has types; `getOrders` may be imported as a
 * type. The result is that of the output schema, as JSON, with at most 2 MiB.
 *
 * @throws ApplicationFailure with type TOOL_INPUT_INVALID, TOOL_NOT_ALLOWED, TOOL_FAILED, TOOL_TIMED_OUT or
 *   TOOL_OUTCOME_UNKNOWN, and the outcome as its details; failures of the engine; CancelledFailure
 */
export async function callTool<Type extends ToolType = AnyToolType>(
  tool: string,
  args: Type['input']['_zod']['input'],
  options: ToolCallOptions = {},
): Promise<Type['output']['_zod']['output']> {
  const json = toArguments(tool, args)
  const caller = await callerWith(options)
  caller.count += 1
  const { run } = caller.calls
  const call = {
    tool,
    arguments: json,
    index: caller.count,
    digest: callDigest(tool, json),
    summary: run.config.isRedacted ? tool : toTemporalSummary(`${tool} ${jsonToText(json)}`),
    refused: null,
  }
  const position = { turn: run.counts.turns, cell: 0, index: caller.count }
  const outcome = await executeCall(new RunCall(caller.calls, { call, caller: 'direct', position }))
  if (outcome.status !== 'ok') throw toFailure(tool, outcome)
  const { value } = outcome
  return isExternal(value) ? loadValue(value, run.config.timeouts) : value
}

/** All calls share the configuration that the first call has read. */
function callerWith({ context }: ToolCallOptions): Promise<Caller> {
  const key = canonicalJson(context ?? null)
  const known = callers.get(key)
  if (known) return known
  // The limits of a run are for code of a model. They do not apply to these calls.
  const opened = openEmbeddedRun(context ? { context } : {}, (limits) => ({
    ...limits,
    callsPerRun: Infinity,
    storedBytes: Infinity,
    resultBytes: Math.min(limits.resultBytes, maxResultBytes),
  }))
  const caller = opened.then((calls) => ({ calls, count: 0 }))
  callers.set(key, caller)
  caller.catch(() => callers.delete(key))
  return caller
}

/** Removes members that JSON can't represent. */
function toArguments(tool: string, args: unknown): JsonObject {
  const json: unknown = JSON.parse(JSON.stringify(args ?? null))
  if (typeof json !== 'object' || json === null || Array.isArray(json) || externalValueKey in json) {
    throw ApplicationFailure.nonRetryable(`the arguments of ${tool} must be an object`, codes.invalid_arguments)
  }
  return json as JsonObject
}

const codes = {
  invalid_arguments: 'TOOL_INPUT_INVALID',
  denied: 'TOOL_NOT_ALLOWED',
  tool_error: 'TOOL_FAILED',
  timed_out: 'TOOL_TIMED_OUT',
  outcome_unknown: 'TOOL_OUTCOME_UNKNOWN',
  cancelled: 'TOOL_FAILED',
} as const satisfies Record<Exclude<CallStatus, 'ok'>, ErrorCode>

function toFailure(tool: string, { status, message }: Exclude<CallOutcome, { status: 'ok' }>): ApplicationFailure {
  return ApplicationFailure.create({
    message: `${tool}: ${message}`,
    type: codes[status],
    nonRetryable: true,
    details: [{ status, message }],
  })
}
