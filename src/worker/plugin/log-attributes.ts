import type { ActivityInterceptorsFactory } from '@temporalio/worker'
import type { JsonObject } from '../../common/json/json.js'
import { tenantOf } from '../../common/runs/search-attributes.js'

/**
 * Adds the tool, the agent and the tenant to every log entry of a tool call: those of the tool and those of the SDK.
 * The SDK adds the ids of workflow, run and activity, and the attempt.
 */
export const logAttributes: ActivityInterceptorsFactory = () => {
  let attributes: Record<string, string> = {}
  return {
    inbound: {
      execute(input, next) {
        attributes = attributesOf(input.args[0])
        return next(input)
      },
    },
    outbound: {
      getLogAttributes: (input, next) => next({ ...input, ...attributes }),
    },
  }
}

/** The input of a tool call is ours; that of any other activity has no attributes. */
function attributesOf(input: unknown): Record<string, string> {
  if (typeof input !== 'object' || input === null || !('idempotencyKey' in input)) return {}
  const { tool, agent, context } = input as { tool?: string; agent?: string; context?: JsonObject }
  const tenant = tenantOf(context === undefined ? {} : { context })
  return {
    ...(tool !== undefined && { tool }),
    ...(agent !== undefined && { agent }),
    ...(tenant !== undefined && { tenant }),
  }
}
