/*
 * Doctor: checks of everything that a run needs on this machine.
 *
 * Owns the checks behind `ptc doctor`, one file each.
 * Boundary: returns `Check`s; the command prints them.
 *
 * Invariants:
 * 1. A check never throws: a failure is a `Check` with status `error` or `warning`.
 * 2. A check leaves nothing behind: it installs nothing, starts no server, creates no state directory and deletes its
 *    test value.
 * 3. No check shows a credential.
 */
import type { ResolvedConfig } from '../../worker/config/parse-config.js'
import { defaultProvider } from '../../worker/config/providers-option.js'
import { checkConfig } from './check-config.js'
import { checkCredentials } from './check-credentials.js'
import { checkModel, type ConfiguredModel } from './check-model.js'
import { checkWarmPool } from './check-warm-pool.js'
import { checkSandboxes } from './check-sandboxes.js'
import { checkTemporal } from './check-temporal.js'
import { checkValues } from './check-values.js'
import { checkNode, checkPackages } from './check-versions.js'
import type { Check } from './check.js'

export { type Check, failed, ok, warning } from './check.js'

interface DoctorOptions {
  /** Configuration file; undefined: searched as by `loadConfig`. */
  readonly config: string | undefined
  readonly stateDirectory: string
}

/** Without a configuration: Anthropic, and any model. */
function configuredModel(config: ResolvedConfig | undefined): ConfiguredModel {
  const anthropic = { kind: 'anthropic' } as const
  if (config === undefined) return { provider: defaultProvider, model: undefined, option: anthropic }
  const { provider, name: model } = config.runConfig.model
  return { provider, model, option: config.providers[provider] ?? anthropic }
}

/** Runs all checks but those of workers. Takes some seconds at most. */
export async function runChecks({ config: file, stateDirectory }: DoctorOptions): Promise<readonly Check[]> {
  const { check, config } = await checkConfig(file)
  const [temporal, sandboxes, pool, values, credentials, model] = await Promise.all([
    checkTemporal(stateDirectory),
    checkSandboxes(config),
    checkWarmPool(config),
    checkValues(config, stateDirectory),
    checkCredentials(config),
    checkModel(configuredModel(config)),
  ])
  return [checkNode(), checkPackages(), check, ...temporal, ...sandboxes, pool, values, ...credentials, model]
}
