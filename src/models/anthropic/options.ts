import type { ClientOptions } from '@anthropic-ai/sdk'
import { PtcError } from '../../common/errors.js'

export interface AnthropicProviderOptions {
  /** Default: from the SDK (`ANTHROPIC_API_KEY`, `ANTHROPIC_AUTH_TOKEN`, a profile of the Anthropic CLI). */
  readonly apiKey?: string
  /** Default: `ANTHROPIC_BASE_URL`, or else Anthropic's API. */
  readonly baseURL?: string
  /** Idle timeout of a call: milliseconds without data from the API. Default 60,000. */
  readonly idleTimeoutMs?: number
  /** Total timeout of a call in milliseconds. Default 600,000. */
  readonly timeoutMs?: number
  /** Logger of the SDK. Default: the console, warnings only (`ANTHROPIC_LOG` changes the level). */
  readonly logger?: NonNullable<ClientOptions['logger']>
}

interface ProviderTimeouts {
  readonly idleTimeoutMs: number
  readonly timeoutMs: number
}

// setTimeout fires a longer timer after 1 ms.
const maxTimerMs = 2 ** 31 - 1

/** @throws PtcError CONFIG_INVALID */
export function resolveTimeouts({
  idleTimeoutMs = 60_000,
  timeoutMs = 600_000,
}: AnthropicProviderOptions): ProviderTimeouts {
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
  // The message does not contain the URL, because of the password in it.
  if (url.username !== '' || url.password !== '') throw invalid("The model's base URL must not hold credentials.")
}

/** @throws PtcError CONFIG_INVALID */
export function checkApiKey(apiKey: string | undefined): void {
  if (apiKey?.trim() === '') throw invalid('apiKey must not be empty; leave it out to use ANTHROPIC_API_KEY.')
}

function invalid(message: string): PtcError {
  return new PtcError('CONFIG_INVALID', message)
}
