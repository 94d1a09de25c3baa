import { crashPoint } from '../common/crash-point.js'
import type { RunPlan } from '../common/plan.js'
import type { RunOptions } from '../common/runs.js'
import type { ToolRegistry } from '../tools/registry.js'
import type { Values } from '../values/values.js'
import { inActivity } from './in-activity.js'
import { withWishes } from './limits-schema.js'
import { recordToolSet } from './tool-set.js'

/** Activity `run.plan`: the configuration of this worker with the wishes of the run. */
export function planRun(configured: RunPlan, registry: ToolRegistry, values: Values) {
  return (options: RunOptions): Promise<RunPlan> =>
    inActivity(async ({ signal }) => {
      const plan = {
        ...configured,
        toolSet: await recordToolSet(registry, values, signal),
        model: { ...configured.model, ...(options.model === undefined ? {} : { name: options.model }) },
        backend: options.sandbox ?? configured.backend,
        limits: withWishes(configured.limits, options.limits ?? {}),
      }
      crashPoint('plan.read')
      return plan
    })
}
