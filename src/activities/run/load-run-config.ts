import { randomBytes } from 'node:crypto'
import { failpoint } from '../../common/failpoint.js'
import type { RunConfig, RunDefaults } from '../../common/run-config.js'
import type { RunOptions } from '../../common/runs.js'
import type { ToolRegistry } from '../../tools/registry.js'
import type { Values } from '../../values/values.js'
import { runActivity } from '../run-activity.js'
import { applyOverrides } from '../limits-schema.js'
import { recordToolSet } from './tool-set.js'

/** Activity `run.config`: the configuration of this worker with the overrides of the run. */
export function loadRunConfig(configured: RunDefaults, registry: ToolRegistry, values: Values) {
  return (options: RunOptions): Promise<RunConfig> =>
    runActivity(async ({ signal }) => {
      const runConfig = {
        ...configured,
        toolSet: await recordToolSet(registry, values, signal),
        model: { ...configured.model, ...(options.model === undefined ? {} : { name: options.model }) },
        backend: options.sandbox ?? configured.backend,
        ...(registry.toolConfigs().some(({ deferred }) => deferred) && {
          completionSecret: randomBytes(32).toString('hex'),
        }),
        limits: applyOverrides(configured.limits, options.limits ?? {}),
      }
      failpoint('config.loaded')
      return runConfig
    })
}
