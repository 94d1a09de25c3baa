import { log } from '@temporalio/activity'
import type { ToolCallInput } from '../common/calls.js'
import { crashPoint } from '../common/crash-point.js'
import type { JsonObject } from '../common/json.js'
import type { Limits } from '../common/limits.js'
import type { Held } from '../common/values.js'
import type { ToolRegistry } from '../tools/registry.js'
import { runTool } from '../tools/run-tool.js'
import type { Values } from '../values/values.js'
import { inActivity } from './in-activity.js'

/** A call, and what this run allows of it; the worker's configuration has the rest. */
export type ServedCall = ToolCallInput & { readonly limits: Pick<Limits, 'argumentBytes' | 'resultBytes'> }

/** The activities of a registry: one for each tool, under the tool's own name. */
export function toolActivities(
  registry: ToolRegistry,
  values: Values,
  limits: Limits,
): Record<string, (call: ServedCall) => Promise<Held>> {
  return Object.fromEntries(
    registry.plans().map(({ name, attempts }) => {
      const activity = ({ limits: allowed, ...call }: ServedCall): Promise<Held> =>
        inActivity(
          async ({ signal, attempt, report }) => {
            crashPoint('tool.begins')
            const args = await argumentsOf(values, call, signal)
            const context = { signal, attempt, log, heartbeat: report }
            const result = await runTool(registry, { ...call, arguments: args }, { ...limits, ...allowed }, context)
            crashPoint('tool.ran')
            // A store that is away is waited for here: the tool has run, and is not to run again for that.
            const held = await values.hold(result, signal)
            crashPoint('tool.ends')
            return held
          },
          (attempt) => attempt >= attempts,
        )
      return [name, activity]
    }),
  )
}

async function argumentsOf(values: Values, { tool, arguments: held }: ToolCallInput, signal: AbortSignal) {
  // What was kept was an object: the sandbox's and the model's arguments are nothing else.
  return (await values.load(held, `the arguments of ${tool}`, signal)) as JsonObject
}
