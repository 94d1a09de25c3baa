import { defined } from '../defined.js'
import type { JsonObject } from '../json/json.js'
import { toKeyword } from './search-attributes.js'

/** The requester of a run, for the audit log and lists of runs: `user` and `tenant` of its context. */
export interface Requester {
  readonly user?: string
  readonly tenant?: string
}

/** Returns undefined when the context has neither a user nor a tenant. */
export function requesterOf(context: JsonObject | undefined): Requester | undefined {
  const user = toKeyword(context?.['user'])
  const tenant = toKeyword(context?.['tenant'])
  if (user === undefined && tenant === undefined) return undefined
  return defined({ user, tenant })
}
