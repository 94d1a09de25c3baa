import { failpoint } from '../../common/failpoint.js'
import type { RunConfig, RunDefaults } from '../../common/run-config.js'
import type { RunOptions } from '../../common/runs.js'
import type { SearchAttributeName } from '../../common/search-attributes.js'
import type { ToolRegistry } from '../../tools/registry.js'
import type { Values } from '../../values/values.js'
import { runActivity } from '../run-activity.js'
import { applyOverrides } from '../limits-schema.js'
import { recordToolSet } from './tool-set.js'

/** The search attributes that runs may set on this server. Never rejects. */
export type SearchAttributeLookup = () => Promise<readonly SearchAttributeName[]>

/** Activity `run.config`: the configuration of this worker with the overrides of the run. */
export function loadRunConfig(
  configured: RunDefaults,
  registry: ToolRegistry,
  values: Values,
  lookUpSearchAttributes: SearchAttributeLookup,
) {
  return (options: RunOptions): Promise<RunConfig> =>
    runActivity(async ({ signal }) => {
      const [toolSet, searchAttributes] = await Promise.all([
        recordToolSet(registry, values, signal),
        lookUpSearchAttributes(),
      ])
      const runConfig = {
        ...configured,
        toolSet,
        model: { ...configured.model, ...(options.model === undefined ? {} : { name: options.model }) },
        backend: options.sandbox ?? configured.backend,
        limits: applyOverrides(configured.limits, options.limits ?? {}),
        searchAttributes,
      }
      failpoint('config.loaded')
      return runConfig
    })
}
