import { rejectOnAbort } from '../../common/async/abort.js'
import { runWork } from '../../common/async/uncaught-errors.js'
import type { ToolCallInput } from '../../common/calls/calls.js'
import type { CallAnswers } from '../../common/calls/questions.js'
import type { Sample } from '../../common/calls/sampling.js'
import { defined } from '../../common/defined.js'
import type { StoredFile } from '../../common/files/files.js'
import { PtcError } from '../../common/errors.js'
import type { JsonValue } from '../../common/json/json.js'
import type { Limits } from '../../common/run/limits.js'
import { markLogged } from '../../common/telemetry/logged-failures.js'
import { checkOutput } from '../validation/check-output.js'
import { checkSize, findTool, parseArguments, type Refusal } from '../validation/check-arguments.js'
import { formatDuration } from '../../common/text/duration.js'
import type { ToolRegistry } from '../registry.js'
import { isStreamed, type StoreFile, storeResult, StreamError } from './file-result.js'
import { describeThrown, publicStackOf, toolStackOf } from './thrown.js'
import { InputRequiredError } from '../input-required-error.js'
import { ToolError } from '../tool-error.js'
import { type CallCredentials, Credentials } from '../credentials/credentials.js'
import type { Redactor } from '../credentials/redactor.js'
import type { ToolContext } from '../tool-context.js'
import type { Tool } from '../tool.js'

/**
 * Adds an image to the result. Bytes that are no image, and images over the limits, are described to the model.
 *
 * @param data in Base64, from outside
 * @returns the name of the image for the model
 */
export type AddImage = (data: string) => string

/** The context of an attempt, in addition to the call. */
export type ToolRunContext = Pick<
  ToolContext,
  'signal' | 'heartbeat' | 'heartbeatDetails' | 'log' | 'attempt' | 'run' | 'context'
> & {
  /** Calls the tool under the event-loop watchdog, which attributes blocking to it. Default: calls it directly. */
  readonly runMonitored?: <Result>(work: () => Result) => Result
  /** Gets a text without credentials. Default: the text is dropped. */
  readonly milestone?: (text: string) => void
  /** For a deferred tool. */
  readonly completionToken?: string
  /** For a tool that has asked people. */
  readonly answers?: CallAnswers | undefined
  /** For a tool whose service may ask the model of the run. */
  readonly sample?: Sample | undefined
  /** Default: none. */
  readonly credentials?: Credentials | undefined
  /** For a tool that returns images beside its result. Undefined: the result is not for a model that sees images. */
  readonly addImage?: AddImage | undefined
  /** For a tool that returns a file. */
  readonly storeFile?: StoreFile | undefined
}

/**
 * Runs one attempt of a call. The authority on caller, arguments, timeout and result.
 *
 * Error messages are for the caller: they contain no stack and no path of this host. The stack of an error is the
 * tool's stack, without paths of this host. The log has everything.
 *
 * @returns plain JSON of at most `limits.resultBytes`; null for a deferred tool; the path of the stored file for a tool
 *   that returns one
 * @throws PtcError TOOL_UNKNOWN, TOOL_NOT_ALLOWED, TOOL_INPUT_INVALID, CREDENTIAL_UNAVAILABLE: the tool did not run.
 *   TOOL_INPUT_REQUIRED: the tool asks people. TOOL_REFUSED: the tool threw a ToolError.
 *   TOOL_NOT_RETRIED: it threw an error that its retry policy excludes.
 *   TOOL_FAILED: it threw any other error. TOOL_TIMED_OUT. TOOL_OUTPUT_INVALID, TOOL_RESULT_TOO_LARGE: it ran, and its
 *   result can't be used. And `signal.reason`, unchanged, when `signal` is aborted.
 */
export async function runTool(
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
  const { file } = tool
  const { storeFile } = context
  const store = (returned: unknown, signal: AbortSignal): Promise<StoredFile> => {
    if (!file || !storeFile) throw new PtcError('INTERNAL', `nothing stores the file of ${tool.name}`)
    return storeResult({ name: tool.name, file }, returned, { limits, redactor, store: storeFile }, signal)
  }
  const returned = await runAttempt(
    tool,
    call,
    { ...context, log: redactor.log(context.log) },
    credentials,
    async (toolContext) => {
      const result = await tool.run(input.value, toolContext)
      // A stream is work of the tool: its errors are those of the tool, and it has the time of the tool.
      return file && isStreamed(result) ? storeStream(() => store(result, toolContext.signal)) : result
    },
  )
  if (tool.deferred) return null
  if (file) return pathOf(returned instanceof StreamEnd ? returned : await store(returned, context.signal))
  try {
    return redactor.any(await checkOutput(tool, returned, limits))
  } catch (thrown) {
    throw PtcError.isInstance(thrown) ? redactor.ptcError(thrown) : thrown
  }
}

/** How the storing of a stream has ended. */
class StreamEnd {
  readonly settled: PromiseSettledResult<StoredFile>

  constructor(settled: PromiseSettledResult<StoredFile>) {
    this.settled = settled
  }
}

/** Stores a stream. @throws what the stream threw: other errors are not those of the tool */
async function storeStream(store: () => Promise<StoredFile>): Promise<StreamEnd> {
  const [settled] = await Promise.allSettled([store()])
  if (settled.status === 'rejected' && settled.reason instanceof StreamError) throw settled.reason.thrown
  return new StreamEnd(settled)
}

function pathOf(stored: StoredFile | StreamEnd): string {
  if (!(stored instanceof StreamEnd)) return stored.path
  if (stored.settled.status === 'rejected') throw stored.settled.reason
  return stored.settled.value.path
}

const noCredentials = new Credentials()

export function resolveCredentials(
  { name: tool, credentials: names }: Tool,
  { run, context, attempt, signal, credentials = noCredentials }: ToolRunContext,
): Promise<CallCredentials> {
  return credentials.resolve(names, { tool, run, context }, attempt, signal)
}

/**
 * Races a function of the tool against its timeout and the caller's signal, so that a tool that ignores its signal does
 * not delay the caller. An uncaught error of the function counts as thrown by it.
 */
export async function runAttempt(
  tool: Tool,
  { caller, idempotencyKey }: Pick<ToolCallInput, 'caller' | 'idempotencyKey'>,
  context: ToolRunContext,
  { values, redactor }: CallCredentials,
  execute: (context: ToolContext) => unknown,
): Promise<unknown> {
  const { signal, log, completionToken, answers, sample, addImage, runMonitored = (work) => work() } = context
  signal.throwIfAborted()
  const abortController = new AbortController()
  // Added before the listeners of the tool: an error that the tool throws because of the signal comes too late.
  const aborted = rejectOnAbort(abortController.signal)
  const onAbort = () => abortController.abort(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  const timer = setTimeout(() => abortController.abort(timeoutError(tool)), tool.timeoutMs)
  const onThrown = (thrown: unknown, how: string): PtcError => {
    const error = toToolError(thrown, tool, redactor)
    if (abortController.signal.aborted || error.code === 'TOOL_INPUT_REQUIRED') return error
    log.warn(`${tool.name} ${how}`, {
      attempt: context.attempt,
      stack: toolStackOf(thrown, redactor.text) ?? describeThrown(thrown, redactor.text),
    })
    return markLogged(error)
  }
  let hasEnded = false
  const fail = (thrown: unknown): boolean => {
    if (hasEnded || abortController.signal.aborted) return false
    // The function may still run: the signal asks it to stop.
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
        ...defined({ completionToken, answers, sample, addImage }),
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

/** Heartbeat details are sent repeatedly, and the server keeps them with the call. */
const maxHeartbeatCharacters = 100_000

/**
 * The details as JSON, at this moment. Details that can't be sent would end the call later, and its author would not
 * see the reason. Very large details would end the worker when the value store is unavailable.
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

function toToolError(thrown: unknown, { retry }: Tool, redactor: Redactor): PtcError {
  const { text: redact } = redactor
  if (isInputRequired(thrown))
    return new PtcError('TOOL_INPUT_REQUIRED', redact(thrown.message), { details: redactor.any(thrown.questions) })
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

/**
 * Whether the name of the error, or of its class, is in the list. Reading a name from a thrown proxy may throw again.
 */
function isOfType(thrown: unknown, types: readonly string[]): boolean {
  try {
    return thrown instanceof Error && (types.includes(thrown.name) || types.includes(thrown.constructor.name))
  } catch {
    return false
  }
}

/** Whether people must answer. Testing a thrown proxy may throw. */
function isInputRequired(thrown: unknown): thrown is InputRequiredError {
  try {
    return thrown instanceof InputRequiredError
  } catch {
    return false
  }
}

/** Whether the value is a ToolError. Testing a thrown proxy may throw again. */
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
