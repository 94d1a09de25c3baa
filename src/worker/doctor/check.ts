import { messageOf, PtcError } from '../../common/errors.js'

/** One thing looked at. */
export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'error'
  /** What was found, one line or more. */
  readonly message: string
  /** What to do about it; absent when all is well. */
  readonly remedy?: string
}

export function ok(name: string, message: string): Check {
  return { name, status: 'ok', message }
}

export function warning(name: string, message: string, remedy: string): Check {
  return { name, status: 'warning', message, remedy }
}

export function failed(name: string, thrown: unknown): Check {
  const remedy = PtcError.isInstance(thrown) ? thrown.hint : undefined
  return { name, status: 'error', message: messageOf(thrown), ...(remedy === undefined ? {} : { remedy }) }
}
