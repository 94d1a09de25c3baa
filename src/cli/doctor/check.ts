import { messageOf, PtcError } from '../../common/errors.js'

/** The result of one check. */
export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'error'
  /** One line or more. */
  readonly message: string
  /** How to correct it; absent when nothing is wrong. */
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
