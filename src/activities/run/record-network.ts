import type { JsonValue } from '../../common/json/json.js'
import type { NetworkRules, RunNetwork } from '../../common/run/network.js'
import { describeNetwork } from '../../config/options/network.js'
import type { Values } from '../../values/values.js'

/** Returns the network of a run for its configuration. It names credentials, and has none of their values. */
export async function recordNetwork(rules: NetworkRules, values: Values, signal: AbortSignal): Promise<RunNetwork> {
  // Rules consist of JSON: a checked option.
  const recorded = await values.externalize(rules as unknown as JsonValue, signal)
  return { rules: recorded, description: describeNetwork(rules) }
}
