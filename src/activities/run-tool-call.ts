import { log } from '@temporalio/activity'
import type { ToolCallInput } from '../common/calls.js'
import type { JsonValue } from '../common/json.js'
import type { Limits } from '../common/limits.js'
import type { ToolRegistry } from '../tools/registry.js'
import { runTool } from '../tools/run-tool.js'
import { inActivity } from './in-activity.js'

/** The activities of a registry: one for each tool, under the tool's own name. */
export function toolActivities(
  registry: ToolRegistry,
  limits: Limits,
): Record<string, (call: ToolCallInput) => Promise<JsonValue>> {
  return Object.fromEntries(
    registry.plans().map(({ name, attempts }) => {
      const activity = (call: ToolCallInput): Promise<JsonValue> =>
        inActivity(
          ({ signal, attempt, report }) => runTool(registry, call, limits, { signal, attempt, log, heartbeat: report }),
          (attempt) => attempt >= attempts,
        )
      return [name, activity]
    }),
  )
}
