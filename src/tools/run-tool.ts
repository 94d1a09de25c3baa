import { rejectionOf } from '../common/abort.js'
import type { ToolCallInput } from '../common/calls.js'
import { PtcError } from '../common/errors.js'
import type { JsonValue } from '../common/json.js'
import type { Limits } from '../common/limits.js'
import { checkOutput } from './check-output.js'
import { checkSize, findTool, parseArguments } from './check-arguments.js'
import type { Refusal } from './check-arguments.js'
import { formatDuration } from './duration.js'
import type { ToolRegistry } from './registry.js'
import { messageOfThrown, stackOfThrown } from './thrown.js'
import { ToolError } from './tool-error.js'
import type { Tool, ToolContext } from './tool.js'

/** What the place where a tool runs adds to the call itself. */
export type RunContext = Pick<ToolContext, 'signal' | 'heartbeat' | 'heartbeatDetails' | 'log' | 'attempt'> & {
  /** Calls the tool; what it does before it returns its promise is then known to be its own. Default: just calls it. */
  readonly runPart?: <Result>(part: () => Result) => Result
}

/**
 * Runs one attempt of a call, and is the authority on it: who may call, what goes in, how long it takes, what comes out.
 *
 * The errors' messages are for the caller: no stack, no paths of this host; the log has those.
 *
 * @returns plain JSON of at most `limits.resultBytes`.
 * @throws PtcError TOOL_UNKNOWN, TOOL_NOT_ALLOWED, TOOL_INPUT_INVALID: nothing ran. TOOL_REFUSED: the tool threw a ToolError.
 * TOOL_FAILED: it threw anything else. TOOL_TIMED_OUT. TOOL_OUTPUT_INVALID, TOOL_RESULT_TOO_LARGE: it ran, and its result is of
 * no use. And `signal.reason`, as it is, when `signal` is aborted.
 */
export async function runTool(
  registry: ToolRegistry,
  call: ToolCallInput,
  limits: Limits,
  context: RunContext,
): Promise<JsonValue> {
  context.signal.throwIfAborted()
  const found = findTool(registry, call.tool, call.caller)
  if (!found.ok) throw errorOf(found.refusal)
  const tool = found.value
  const tooMuch = checkSize(call.arguments, limits)
  if (tooMuch !== undefined) throw errorOf(tooMuch)
  const input = await parseArguments(tool, call.arguments)
  if (!input.ok) throw errorOf(input.refusal)
  return checkOutput(tool, await attempt(tool, input.value, call, context), limits)
}

/** The tool's own work, raced against its time and the caller's patience: a tool that ignores its signal holds nobody up. */
async function attempt(
  tool: Tool,
  input: Readonly<Record<string, unknown>>,
  { caller, idempotencyKey }: ToolCallInput,
  context: RunContext,
): Promise<unknown> {
  const { signal, log, runPart = (part) => part() } = context
  signal.throwIfAborted()
  const stop = new AbortController()
  // Listens before the tool can: what the tool throws because of the signal comes too late to be the answer.
  const stopped = rejectionOf(stop.signal)
  const cancel = () => stop.abort(signal.reason)
  signal.addEventListener('abort', cancel, { once: true })
  const timer = setTimeout(() => stop.abort(timedOut(tool)), tool.timeoutMs)
  const run = async () => {
    try {
      const heartbeat = (details?: unknown) => context.heartbeat(details)
      const { heartbeatDetails, attempt } = context
      const own = { signal: stop.signal, idempotencyKey, heartbeat, heartbeatDetails, log, caller, attempt }
      return await runPart(() => tool.run(input, own))
    } catch (thrown) {
      if (!stop.signal.aborted)
        log.warn(`${tool.name} threw`, {
          attempt: context.attempt,
          stack: stackOfThrown(thrown) ?? messageOfThrown(thrown),
        })
      throw errorOfThrown(thrown)
    }
  }
  try {
    return await Promise.race([stopped, run()])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
  }
}

function timedOut({ name, timeoutMs }: Tool): PtcError {
  return new PtcError('TOOL_TIMED_OUT', `${name} did not answer within ${formatDuration(timeoutMs)}`)
}

function errorOfThrown(thrown: unknown): PtcError {
  const error = new PtcError(isRefusal(thrown) ? 'TOOL_REFUSED' : 'TOOL_FAILED', messageOfThrown(thrown))
  // The stack of the tool is for the log alone: what it holds (paths, secrets in messages) must not reach the history. Ours helps nobody.
  error.stack = ''
  return error
}

/** A thrown proxy may throw again. */
function isRefusal(thrown: unknown): boolean {
  try {
    return ToolError.isInstance(thrown)
  } catch {
    return false
  }
}

function errorOf({ code, message }: Refusal): PtcError {
  return new PtcError(code, message)
}
