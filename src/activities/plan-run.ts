import { crashPoint } from '../common/crash-point.js'
import type { RunPlan } from '../common/plan.js'
import type { RunOptions } from '../common/runs.js'
import { inActivity } from './in-activity.js'
import { withWishes } from './limits-schema.js'

/** Activity `run.plan`: the configuration of this worker with the wishes of the run. */
export function planRun(configured: RunPlan) {
  return (options: RunOptions): Promise<RunPlan> =>
    // oxlint-disable-next-line typescript/require-await
    inActivity(async () => {
      const plan = {
        ...configured,
        model: { ...configured.model, ...(options.model === undefined ? {} : { name: options.model }) },
        backend: options.sandbox ?? configured.backend,
        limits: withWishes(configured.limits, options.limits ?? {}),
      }
      crashPoint('plan.read')
      return plan
    })
}
