import { type CompensableCall, compensationKey } from '../../common/calls/compensation.js'
import { PtcError } from '../../common/errors.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import { parseArguments } from '../validation/check-arguments.js'
import type { ToolRegistry } from '../registry.js'
import { resolveCredentials, runAttempt, type ToolRunContext } from './run-tool.js'

/** A call to compensate, with its values loaded. */
export interface LoadedCall extends Pick<CompensableCall, 'tool' | 'caller' | 'idempotencyKey'> {
  readonly arguments: JsonObject
  /** Undefined: the outcome of the call is unknown. */
  readonly result: JsonValue | undefined
}

/**
 * Runs one attempt of the compensation of a call. Its idempotency key is that of the call with a suffix.
 *
 * @throws PtcError in the same cases as `runTool`. TOOL_UNKNOWN, TOOL_INPUT_INVALID: the tool was changed, and its
 *   `compensate` did not run
 */
export async function runCompensation(
  registry: ToolRegistry,
  { tool: name, caller, idempotencyKey, arguments: args, result }: LoadedCall,
  context: ToolRunContext,
): Promise<void> {
  context.signal.throwIfAborted()
  const tool = registry.get(name)
  if (tool?.compensate === undefined) throw new PtcError('TOOL_UNKNOWN', `${name} has no compensation`)
  const input = await parseArguments(tool, args)
  if (!input.ok) throw new PtcError(input.refusal.code, input.refusal.message)
  const call = { arguments: input.value, result, idempotencyKey } as Parameters<typeof tool.compensate>[0]
  const credentials = await resolveCredentials(tool, context)
  const log = credentials.redactor.log(context.log)
  const attempt = { caller, idempotencyKey: compensationKey(idempotencyKey) }
  await runAttempt(tool, attempt, { ...context, log }, credentials, (toolContext) =>
    tool.compensate?.(call, toolContext),
  )
}
