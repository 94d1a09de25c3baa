import { log } from '@temporalio/activity'
import type { ToolCallInput } from '../common/calls.js'
import type { JsonValue } from '../common/json.js'
import type { Limits } from '../common/limits.js'
import type { ToolRegistry } from '../tools/registry.js'
import { runTool } from '../tools/run-tool.js'
import { inActivity } from './in-activity.js'

/** A call, and what this run allows of it; the worker's configuration has the rest. */
export type ServedCall = ToolCallInput & { readonly limits: Pick<Limits, 'argumentBytes' | 'resultBytes'> }

/** The activities of a registry: one for each tool, under the tool's own name. */
export function toolActivities(
  registry: ToolRegistry,
  limits: Limits,
): Record<string, (call: ServedCall) => Promise<JsonValue>> {
  return Object.fromEntries(
    registry.plans().map(({ name, attempts }) => {
      const activity = ({ limits: allowed, ...call }: ServedCall): Promise<JsonValue> =>
        inActivity(
          ({ signal, attempt, report }) =>
            runTool(registry, call, { ...limits, ...allowed }, { signal, attempt, log, heartbeat: report }),
          (attempt) => attempt >= attempts,
        )
      return [name, activity]
    }),
  )
}
