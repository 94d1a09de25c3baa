import { runWork } from '../../common/async/uncaught-errors.js'
import { digestJson } from '../../common/calls/call-identity.js'
import { messageOf, PtcError } from '../../common/errors.js'
import type { JsonObject } from '../../common/json/json.js'
import type { ToolRegistry } from '../registry.js'
import { parseArguments } from '../validation/check-arguments.js'

const maxKeyCharacters = 10_000

/**
 * Returns the lock of a call: a digest, because the key of a lock may be long, and may be data that no history should
 * have. Undefined for a call that excludes no other, and for a tool whose locks a deployment has removed.
 *
 * @throws PtcError TOOL_INPUT_INVALID. TOOL_NOT_ALLOWED when `lockBy` throws, or returns no text: a call whose lock is
 *   unknown must not run. TOOL_NOT_REGISTERED
 */
export async function lockOf(registry: ToolRegistry, name: string, args: JsonObject): Promise<string | undefined> {
  const tool = registry.get(name)
  if (tool === undefined) throw new PtcError('TOOL_NOT_REGISTERED', `this worker has no tool named ${name}`)
  const { lockBy } = tool
  if (!lockBy) return undefined
  const input = await parseArguments(tool, args)
  if (!input.ok) throw new PtcError(input.refusal.code, input.refusal.message)
  const failed = (why: string, cause?: unknown) =>
    new PtcError('TOOL_NOT_ALLOWED', `the lock of ${name} is unknown: lockBy ${why}`, { cause })
  let key: unknown
  try {
    // The promise of an asynchronous function may reject later. Nothing depends on it.
    key = runWork({ name: `lockBy of ${name}`, fail: () => false }, () => lockBy(input.value as never))
  } catch (thrown) {
    throw failed(`threw ${messageOf(thrown)}`, thrown)
  }
  if (key === undefined) return undefined
  if (typeof key !== 'string') throw failed('returned no text')
  if (key.length > maxKeyCharacters) throw failed(`returned more than ${maxKeyCharacters} characters`)
  return digestJson(key)
}
