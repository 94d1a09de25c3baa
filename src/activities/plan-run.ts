import { PtcError } from '../common/errors.js'
import { defaultLimits, type Limits } from '../common/limits.js'
import type { RunPlan } from '../common/plan.js'
import type { RunOptions } from '../common/runs.js'
import { inActivity } from './in-activity.js'

/** Activity `run.plan`: the configuration of this worker with the wishes of the run. */
export function planRun(configured: RunPlan) {
  return (options: RunOptions): Promise<RunPlan> =>
    inActivity(() =>
      Promise.resolve({
        ...configured,
        model: { ...configured.model, ...(options.model === undefined ? {} : { name: options.model }) },
        backend: options.sandbox ?? configured.backend,
        limits: { ...configured.limits, ...checkLimits(options.limits ?? {}) },
      }),
    )
}

/** A run may ask for its own limits; names and numbers are checked here, where the message still reaches its author. */
function checkLimits(limits: Partial<Limits>): Partial<Limits> {
  for (const [name, value] of Object.entries(limits)) {
    if (!(name in defaultLimits)) throw new PtcError('CONFIG_INVALID', `there is no limit named ${name}`)
    if (!(Number.isFinite(value) && value > 0))
      throw new PtcError('CONFIG_INVALID', `limit ${name} must be a positive number, not ${value}`)
  }
  return limits
}
