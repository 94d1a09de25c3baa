import type { JsonObject } from '../json/json.js'

/**
 * The search attributes of runs and sessions, with their types in Temporal. A server may have only 10 keywords in a
 * namespace, so these are few.
 */
export const searchAttributeTypes = {
  /** Name of the agent. */
  PtcAgent: 'KEYWORD',
  /** {@link ActiveStatus}, or the end of the run. */
  PtcStatus: 'KEYWORD',
  /** `context.tenant` of the run. */
  PtcTenant: 'KEYWORD',
  /** Name of the model; absent for a program or a session. */
  PtcModel: 'KEYWORD',
  /** Name of a named session. */
  PtcSession: 'KEYWORD',
  /** US dollars so far; absent when the price of the model is unknown. */
  PtcCostUsd: 'DOUBLE',
} as const satisfies Record<string, 'KEYWORD' | 'DOUBLE'>

export type SearchAttributeName = keyof typeof searchAttributeTypes

export const searchAttributeNames = Object.keys(searchAttributeTypes) as readonly SearchAttributeName[]

/**
 * Values of `PtcStatus` of a run that has not ended. `waiting_for_approval`: a call waits for its approval.
 * `waiting_for_result`: a question waits for its answer, or another deferred call waits for its result for longer than
 * `timeouts.park`. `waiting`: the code waits for something else for longer than that. `paused`: the budget is spent.
 * `idle`: a conversation waits for a message. A run that has ended has the status of its result (`answered`, `ok`,
 * `code_error` …), `failed` or `cancelled`.
 */
export const activeStatuses = [
  'running',
  'waiting_for_approval',
  'waiting_for_result',
  'waiting',
  'paused',
  'idle',
] as const

export type ActiveStatus = (typeof activeStatuses)[number]

/** Values of `PtcStatus` of a run that waits for something from outside: a person, or a result. */
export const awaitingStatuses = ['waiting_for_approval', 'waiting_for_result', 'paused'] satisfies ActiveStatus[]

/** PostgreSQL and MySQL accept 255 characters. */
const maxKeywordCharacters = 200

/** Returns a value that every store of Temporal accepts as a keyword; undefined when there is none. */
export function toKeyword(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  return Array.from(value.replace(/[\p{Cc}\p{Surrogate}]/gu, ' '))
    .slice(0, maxKeywordCharacters)
    .join('')
}

/** Returns the tenant of a run: `tenant` of its context. */
export function tenantOf({ context }: { readonly context?: JsonObject }): string | undefined {
  return toKeyword(context?.['tenant'])
}

export function isOwnSearchAttribute(name: string): boolean {
  return Object.hasOwn(searchAttributeTypes, name)
}

/** Returns the name of a type for the Temporal CLI. */
export function toTemporalType(type: (typeof searchAttributeTypes)[SearchAttributeName]): 'Keyword' | 'Double' {
  return type === 'KEYWORD' ? 'Keyword' : 'Double'
}
