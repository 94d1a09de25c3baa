import { checkConfig } from './check-config.js'
import { checkModel } from './check-model.js'
import { checkPool } from './check-pool.js'
import { checkSandboxes } from './check-sandboxes.js'
import { checkTemporal } from './check-temporal.js'
import { checkValues } from './check-values.js'
import { checkNode, checkPackages } from './check-versions.js'

import type { Check } from './check.js'
export { type Check, failed, ok, warning } from './check.js'

export interface DoctorOptions {
  /** A configuration file; default: found as usual. */
  readonly config: string | undefined
  readonly stateDirectory: string
}

/** Looks at everything a run needs on this machine. Never throws; takes some seconds at most. */
export async function examine({ config: file, stateDirectory }: DoctorOptions): Promise<readonly Check[]> {
  const { check, config } = await checkConfig(file)
  const [temporal, sandboxes, pool, values, model] = await Promise.all([
    checkTemporal(stateDirectory),
    checkSandboxes(config),
    checkPool(config),
    checkValues(config, stateDirectory),
    checkModel(config?.plan.model.name),
  ])
  return [checkNode(), checkPackages(), check, temporal, ...sandboxes, pool, values, model]
}
