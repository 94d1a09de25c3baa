import Anthropic from '@anthropic-ai/sdk'
import { isMissingCredentials } from './credential-errors.js'

/**
 * Whether the SDK finds credentials: `ANTHROPIC_API_KEY`, `ANTHROPIC_AUTH_TOKEN`, federation variables, or a profile of
 * the Anthropic CLI. Sends no request, so it does not tell whether the API accepts them.
 */
export async function hasCredentials(): Promise<boolean> {
  // The SDK looks for credentials before it sends the request, and fails with an error of its own when there are none.
  const client = new Anthropic({ maxRetries: 0, fetch: () => Promise.reject(new Error('no request is sent')) })
  try {
    await client.models.list()
    return true
  } catch (thrown) {
    return !isMissingCredentials(thrown)
  }
}
