import { z } from 'zod'
import { defined } from '../../common/defined.js'
import type { LockKey } from '../tool-definition.js'
import type { Tool } from '../tool.js'
import { parseOption } from './invalid-tool.js'
import type { OptionBasis } from './option-basis.js'

const key = z.custom<LockKey>((value) => typeof value === 'function', 'must be a function of the input')

const sharedLock = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must have 1 to 64 letters, digits, "_" and "-"'),
  key,
})

/** @returns undefined members for a tool without locks */
export function lockOf({ definition, invalid }: OptionBasis): Pick<Tool, 'lock' | 'lockBy'> {
  const { lockBy, execution, concurrency } = definition
  if (lockBy === undefined) return {}
  if (execution === 'local') {
    throw invalid("execution 'local' and lockBy exclude each other", 'A worker makes a local call by itself.')
  }
  if (!['function', 'object'].includes(typeof lockBy))
    throw invalid('lockBy must be a function of the input, or { name, key }')
  const own = key.safeParse(lockBy)
  const parsed = own.success ? { name: undefined, key: own.data } : parseOption('lockBy', sharedLock, lockBy, invalid)
  if (parsed.name !== undefined && concurrency !== undefined) {
    throw invalid('lockBy.name and concurrency exclude each other', 'Tools that share locks have one limiter.')
  }
  return { lock: Object.freeze(defined({ sharedAs: parsed.name })), lockBy: parsed.key }
}
