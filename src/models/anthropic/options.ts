import type { ClientOptions } from '@anthropic-ai/sdk'
import { PtcError } from '../../common/errors.js'

export interface AnthropicProviderOptions {
  /** Default: what the SDK finds (`ANTHROPIC_API_KEY`, `ANTHROPIC_AUTH_TOKEN`, a profile of the Anthropic CLI). */
  readonly apiKey?: string
  /** Default: `ANTHROPIC_BASE_URL`, else the real API. */
  readonly baseURL?: string
  /** Milliseconds without a byte from the API before a call is given up. Default 60,000. */
  readonly idleTimeoutMs?: number
  /** Milliseconds one whole call may take. Default 600,000. */
  readonly timeoutMs?: number
  /** Where the SDK logs to; default the console, warnings only (`ANTHROPIC_LOG` changes that). */
  readonly logger?: NonNullable<ClientOptions['logger']>
}

export interface Timeouts {
  readonly idleTimeoutMs: number
  readonly timeoutMs: number
}

// setTimeout takes anything longer for 1 ms.
const longestTimer = 2 ** 31 - 1

/** @throws PtcError CONFIG_INVALID */
export function checkedTimeouts({ idleTimeoutMs = 60_000, timeoutMs = 600_000 }: AnthropicProviderOptions): Timeouts {
  const timeouts = { idleTimeoutMs, timeoutMs }
  for (const [name, value] of Object.entries(timeouts)) {
    if (!Number.isInteger(value) || value < 1 || value > longestTimer) {
      throw invalid(`${name} must be a whole number of milliseconds from 1 to ${longestTimer}, not ${value}.`)
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
  // Not repeated in the message: it holds a password.
  if (url.username !== '' || url.password !== '') throw invalid("The model's base URL must not hold credentials.")
}

/** @throws PtcError CONFIG_INVALID */
export function checkApiKey(apiKey: string | undefined): void {
  if (apiKey?.trim() === '') throw invalid('apiKey must not be empty; leave it out to use ANTHROPIC_API_KEY.')
}

function invalid(message: string): PtcError {
  return new PtcError('CONFIG_INVALID', message)
}
