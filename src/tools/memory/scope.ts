import { createHash } from 'node:crypto'
import type { JsonObject } from '../../common/json/json.js'
import type { CallingRun } from '../tool-context.js'
import { MemoryError } from './memory-error.js'

/**
 * Says whose memory a run uses, from its `context`: `({ user }) => user`, `({ tenant, user }) => [tenant, user]`, or
 * `(_, run) => run.workflowId` for a memory of one conversation. A text, or a list of texts, of together at most 256
 * characters; anything else refuses the call. A list can't be confused with another list, whatever its texts contain.
 */
export type MemoryScope = (context: JsonObject, run: CallingRun) => unknown

const maxCharacters = 256
/** What a template string makes of a member that the context does not have: all runs without it would share a scope. */
const missingMember = /(^|[^\p{L}\p{N}])(undefined|null|NaN|\[object Object\])($|[^\p{L}\p{N}])/u

/** Evaluates the scope of a run. @throws MemoryError scope_invalid */
export function scopeOf(scope: MemoryScope, context: JsonObject, run: CallingRun): string {
  const value = scope(context, run)
  if (typeof value === 'string') return checkScope(value)
  if (!Array.isArray(value) || value.length === 0 || value.length > maxCharacters) {
    throw invalid('the context of the run names nobody')
  }
  const parts = value.map((part: unknown) => {
    if (typeof part === 'string' && part !== '') return part
    throw invalid('the context of the run lacks a part of it')
  })
  // Two lists never have the same text.
  return checkScope(parts.map((part) => part.replaceAll('%', '%25').replaceAll('/', '%2F')).join('/'))
}

/** Checks the text of a scope. @throws MemoryError scope_invalid */
export function checkScope(scope: string): string {
  if (scope.trim() === '') throw invalid('it is empty')
  if (scope.length > maxCharacters) throw invalid(`it has more than ${maxCharacters} characters`)
  // UTF-8 replaces each lone surrogate by the same character, which would give two scopes one digest.
  if (!scope.isWellFormed()) throw invalid('it is not Unicode')
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(scope)) throw invalid('it has characters that can not be seen')
  if (missingMember.test(scope)) throw invalid('the context of the run lacks a part of it')
  return scope
}

function invalid(why: string): MemoryError {
  return new MemoryError(
    'scope_invalid',
    `Error: This run has no memory, because the scope of its memory is not valid: ${why}.`,
  )
}

/** The name of the folder of a scope. */
export function folderOf(scope: string): string {
  return createHash('sha256').update(scope, 'utf8').digest('hex')
}
