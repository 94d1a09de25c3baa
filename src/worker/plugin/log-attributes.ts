import type { ActivityInterceptorsFactory } from '@temporalio/worker'
import { defined } from '../../common/defined.js'
import type { JsonObject } from '../../common/json/json.js'
import { tenantOf } from '../../common/run/search-attributes.js'

/**
 * Adds the tool, the agent and the tenant to every log entry of a tool call, whether the tool or the SDK writes it. The
 * SDK adds the ids of workflow, run and activity, and the attempt.
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

/** The attributes of a tool call, from its input. Other activities have none. */
function attributesOf(input: unknown): Record<string, string> {
  if (typeof input !== 'object' || input === null || !('idempotencyKey' in input)) return {}
  const { tool, agent, context } = input as { tool?: string; agent?: string; context?: JsonObject }
  const tenant = tenantOf(context === undefined ? {} : { context })
  return defined({ tool, agent, tenant })
}
