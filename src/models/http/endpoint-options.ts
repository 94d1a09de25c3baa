import { PtcError } from '../../common/errors.js'

export interface ProviderTimeouts {
  /** Idle timeout of a call: milliseconds without data from the API. */
  readonly idleTimeoutMs: number
  /** Total timeout of a call in milliseconds. */
  readonly timeoutMs: number
}

// setTimeout fires a longer timer after 1 ms.
const maxTimerMs = 2 ** 31 - 1

/**
 * Defaults: 60 seconds without data, and 10 minutes in total.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function resolveTimeouts({
  idleTimeoutMs = 60_000,
  timeoutMs = 600_000,
}: Partial<ProviderTimeouts>): ProviderTimeouts {
  const timeouts = { idleTimeoutMs, timeoutMs }
  for (const [name, value] of Object.entries(timeouts)) {
    if (!Number.isInteger(value) || value < 1 || value > maxTimerMs) {
      throw invalid(`${name} must be a whole number of milliseconds from 1 to ${maxTimerMs}, not ${value}.`)
    }
  }
  return timeouts
}

/** @throws PtcError CONFIG_INVALID */
export function checkBaseURL(baseURL: string): void {
  const url = URL.canParse(baseURL) ? new URL(baseURL) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw invalid(`The model's base URL must be an http or https URL, not ${JSON.stringify(baseURL)}.`)
  }
  // The message does not contain the URL, because the URL has a password.
  if (url.username !== '' || url.password !== '') throw invalid("The model's base URL must not hold credentials.")
}

/**
 * Checks options before the package of a provider is loaded.
 *
 * @param defaultURL the base URL of the environment, if the options have none
 * @throws PtcError CONFIG_INVALID
 */
export function checkEndpoint(
  options: Partial<ProviderTimeouts> & { readonly baseURL?: string | undefined },
  defaultURL: string | undefined,
): void {
  resolveTimeouts(options)
  const baseURL = options.baseURL ?? defaultURL
  if (baseURL) checkBaseURL(baseURL)
}

function invalid(message: string): PtcError {
  return new PtcError('CONFIG_INVALID', message)
}
