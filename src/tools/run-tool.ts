import { rejectOnAbort } from '../common/async/abort.js'
import { runWork } from '../common/async/uncaught-errors.js'
import type { ToolCallInput } from '../common/calls/calls.js'
import { PtcError } from '../common/errors.js'
import type { JsonValue } from '../common/json/json.js'
import type { Limits } from '../common/runs/limits.js'
import { markLogged } from '../common/telemetry/logged-failures.js'
import { metrics } from '../common/telemetry/metrics.js'
import { toolSpan, withSpan } from '../common/telemetry/tracing.js'
import { type CallStatus, toCallStatus } from '../common/calls/outcomes.js'
import { checkOutput } from './validation/check-output.js'
import { checkSize, findTool, parseArguments } from './validation/check-arguments.js'
import type { Refusal } from './validation/check-arguments.js'
import { formatDuration } from './duration.js'
import type { ToolRegistry } from './registry.js'
import { describeThrown, publicStackOf, toolStackOf } from './thrown.js'
import { ToolError } from './tool-error.js'
import { type CallCredentials, Credentials } from './credentials/credentials.js'
import type { Redactor } from './credentials/redactor.js'
import type { Tool, ToolContext } from './tool.js'

/** The context of an attempt, in addition to the call. */
export type ToolRunContext = Pick<
  ToolContext,
  'signal' | 'heartbeat' | 'heartbeatDetails' | 'log' | 'attempt' | 'run' | 'context'
> & {
  /** Calls the tool under the event-loop watchdog, which attributes blocking to it. Default: calls it without. */
  readonly runMonitored?: <Result>(work: () => Result) => Result
  /** Gets a text without credentials. Default: it is dropped. */
  readonly milestone?: (text: string) => void
  /** For a deferred tool. */
  readonly completionToken?: string
  /** Default: none. */
  readonly credentials?: Credentials | undefined
}

/**
 * Runs one attempt of a call. The authority on caller, arguments, timeout and result.
 *
 * Error messages are for the caller: they contain no stack and no path of this host. The stack of an error is that of
 * the tool, without paths of this host. The log has everything.
 *
 * @returns plain JSON of at most `limits.resultBytes`; null for a deferred tool
 * @throws PtcError TOOL_UNKNOWN, TOOL_NOT_ALLOWED, TOOL_INPUT_INVALID, CREDENTIAL_UNAVAILABLE: nothing ran.
 *   TOOL_REFUSED: the tool threw a ToolError. TOOL_NOT_RETRIED: it threw an error that its retry policy excludes.
 *   TOOL_FAILED: it threw anything else. TOOL_TIMED_OUT. TOOL_OUTPUT_INVALID, TOOL_RESULT_TOO_LARGE: it ran, and its
 *   result can't be used. And `signal.reason`, unchanged, when `signal` is aborted.
 */
export function runTool(
  registry: ToolRegistry,
  call: ToolCallInput,
  limits: Limits,
  context: ToolRunContext,
): Promise<JsonValue> {
  const { tool, idempotencyKey, position } = call
  const attributes = {
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': idempotencyKey,
    'ptc.turn': position.turn,
    'ptc.cell': position.cell,
    'ptc.call': position.index,
    'ptc.attempt': context.attempt,
  }
  return withSpan(toolSpan(registry.get(tool)?.name ?? 'unknown', attributes), () =>
    measureCall(registry, tool, context.signal, () => checkAndRun(registry, call, limits, context)),
  )
}

/** Calls in progress. */
let running = 0

async function measureCall<Result>(
  registry: ToolRegistry,
  name: string,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  // A name that no tool has is chosen by the model or its code.
  const tool = registry.get(name)?.name ?? 'unknown'
  const startedAt = performance.now()
  let status: CallStatus = 'ok'
  metrics.set('ptc_tool_calls_running', ++running, {})
  try {
    return await work()
  } catch (thrown) {
    status = signal.aborted ? 'cancelled' : toCallStatus(PtcError.isInstance(thrown) ? thrown.code : '')
    throw thrown
  } finally {
    metrics.set('ptc_tool_calls_running', --running, {})
    metrics.add('ptc_tool_calls_total', 1, { tool, status })
    metrics.observe('ptc_tool_call_latency_milliseconds', performance.now() - startedAt, { tool })
  }
}

async function checkAndRun(
  registry: ToolRegistry,
  call: ToolCallInput,
  limits: Limits,
  context: ToolRunContext,
): Promise<JsonValue> {
  context.signal.throwIfAborted()
  const found = findTool(registry, call.tool, call.caller)
  if (!found.ok) throw refusalError(found.refusal)
  const tool = found.value
  const sizeRefusal = checkSize(call.arguments, limits)
  if (sizeRefusal !== undefined) throw refusalError(sizeRefusal)
  const input = await parseArguments(tool, call.arguments)
  if (!input.ok) throw refusalError(input.refusal)
  const credentials = await resolveCredentials(tool, context)
  const { redactor } = credentials
  const returned = await runAttempt(
    tool,
    call,
    { ...context, log: redactor.log(context.log) },
    credentials,
    (toolContext) => tool.run(input.value, toolContext),
  )
  if (tool.deferred) return null
  try {
    return redactor.any(await checkOutput(tool, returned, limits))
  } catch (thrown) {
    throw PtcError.isInstance(thrown) ? redactor.ptcError(thrown) : thrown
  }
}

const noCredentials = new Credentials()

export function resolveCredentials(
  { name: tool, credentials: names }: Tool,
  { run, context, attempt, signal, credentials = noCredentials }: ToolRunContext,
): Promise<CallCredentials> {
  return credentials.resolve(names, { tool, run, context }, attempt, signal)
}

/**
 * Races a function of the tool against its timeout and the caller's signal, so that a tool that ignores its signal
 * delays nobody. An uncaught error of the function is as one that it throws.
 */
export async function runAttempt(
  tool: Tool,
  { caller, idempotencyKey }: Pick<ToolCallInput, 'caller' | 'idempotencyKey'>,
  context: ToolRunContext,
  { values, redactor }: CallCredentials,
  execute: (context: ToolContext) => unknown,
): Promise<unknown> {
  const { signal, log, completionToken, runMonitored = (work) => work() } = context
  signal.throwIfAborted()
  const abortController = new AbortController()
  // Added before the listeners of the tool: an error that the tool throws because of the signal comes too late.
  const aborted = rejectOnAbort(abortController.signal)
  const onAbort = () => abortController.abort(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  const timer = setTimeout(() => abortController.abort(timeoutError(tool)), tool.timeoutMs)
  const onThrown = (thrown: unknown, how: string): PtcError => {
    const error = toToolError(thrown, tool, redactor)
    if (abortController.signal.aborted) return error
    log.warn(`${tool.name} ${how}`, {
      attempt: context.attempt,
      stack: toolStackOf(thrown, redactor.text) ?? describeThrown(thrown, redactor.text),
    })
    return markLogged(error)
  }
  let hasEnded = false
  const fail = (thrown: unknown): boolean => {
    if (hasEnded || abortController.signal.aborted) return false
    // The function may still run: it is told to stop.
    abortController.abort(onThrown(thrown, 'left an error uncaught'))
    return true
  }
  const run = async () => {
    try {
      const heartbeat = (details?: unknown) => context.heartbeat(redactor.any(toHeartbeatDetails(details)))
      const { heartbeatDetails, attempt, run: callingRun, context: runContext } = context
      const toolContext = {
        signal: abortController.signal,
        idempotencyKey,
        heartbeat,
        heartbeatDetails,
        milestone: (text: string) => context.milestone?.(redactor.text(text)),
        log,
        credential: (name: string) => credentialOf(tool, values, name),
        caller,
        attempt,
        ...(completionToken !== undefined && { completionToken }),
        run: callingRun,
        // Calls of local tools share the object.
        context: structuredClone(runContext),
      }
      return await runMonitored(() => execute(toolContext))
    } catch (thrown) {
      throw onThrown(thrown, 'threw')
    }
  }
  try {
    return await Promise.race([aborted, runWork({ name: `tool ${tool.name}`, redact: redactor.text, fail }, run)])
  } finally {
    hasEnded = true
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

/** They are sent again and again, and kept by the server with the call. */
const maxHeartbeatCharacters = 100_000

/**
 * The details as JSON, as they are now. Details that can't be sent would end the call later, without a reason for its
 * author, and very large ones the worker when the value store is unavailable.
 */
function toHeartbeatDetails(details: unknown): unknown {
  const json = JSON.stringify(details) as string | undefined
  if (json === undefined) return undefined
  if (json.length <= maxHeartbeatCharacters) return JSON.parse(json) as unknown
  throw new RangeError(`the details of a heartbeat have at most ${maxHeartbeatCharacters} characters of JSON`)
}

function timeoutError({ name, timeoutMs }: Tool): PtcError {
  return new PtcError('TOOL_TIMED_OUT', `${name} did not answer within ${formatDuration(timeoutMs)}`)
}

function credentialOf({ name: tool }: Tool, values: ReadonlyMap<string, string>, name: string): string {
  const value = values.get(name)
  if (value === undefined) throw new Error(`${tool} declares no credential named ${name}`)
  return value
}

function toToolError(thrown: unknown, { retry }: Tool, { text: redact }: Redactor): PtcError {
  const code = isToolError(thrown)
    ? 'TOOL_REFUSED'
    : isOfType(thrown, retry?.nonRetryableErrorTypes ?? [])
      ? 'TOOL_NOT_RETRIED'
      : 'TOOL_FAILED'
  const error = new PtcError(code, describeThrown(thrown, redact))
  // The log has the whole stack. The history gets no path of this host.
  error.stack = publicStackOf(thrown, redact)
  return error
}

/** By the name of the error or of its class. Reading them from a thrown proxy may throw again. */
function isOfType(thrown: unknown, types: readonly string[]): boolean {
  try {
    return thrown instanceof Error && (types.includes(thrown.name) || types.includes(thrown.constructor.name))
  } catch {
    return false
  }
}

/** Testing a thrown proxy may throw again. */
function isToolError(thrown: unknown): boolean {
  try {
    return ToolError.isInstance(thrown)
  } catch {
    return false
  }
}

function refusalError({ code, message }: Refusal): PtcError {
  return new PtcError(code, message)
}
