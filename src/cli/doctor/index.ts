/*
 * Doctor: checks of everything that a run needs on this machine.
 *
 * Owns the checks behind `ptc doctor`, one file each.
 * Boundary: returns `Check`s; the command prints them.
 *
 * Invariants:
 * 1. A check never throws, and ends within a time limit: a failure is a `Check` with status `error` or `warning`.
 * 2. A check leaves nothing behind: it installs nothing, starts no server, creates no state directory and deletes its
 *    test value. A collector of traces gets one span.
 * 3. No check shows a credential.
 */
import type { ResolvedConfig } from '../../config/parse-config.js'
import { defaultProvider } from '../../models/facts/model-name.js'
import { checkAuditLog } from './check-audit.js'
import { checkConfig } from './check-config.js'
import { checkCredentials } from './check-credentials.js'
import { checkModel, type ConfiguredModel } from './check-model.js'
import { checkWarmPool } from './sandbox/check-warm-pool.js'
import { checkSandboxes } from './sandbox/check-sandboxes.js'
import { checkSkills } from './check-skills.js'
import { checkStream } from './check-stream.js'
import { checkTemporal } from './check-temporal.js'
import { checkTools } from './check-tools.js'
import { checkTracing } from './check-tracing.js'
import { checkValues } from './check-values.js'
import { checkNode, checkPackages } from './check-versions.js'
import { checkWorkers } from './check-workers.js'
import { type Check, withinLimit } from './check.js'
import type { LoadedConfig } from '../environment/project.js'

export { type Check, failed, ok, warning } from './check.js'

interface DoctorOptions {
  /** Configuration file. Undefined: searched for in the same way as by `loadConfig`. */
  readonly config: string | undefined
  readonly stateDirectory: string
  /** Called with each result at once. */
  readonly onCheck: (check: Check) => void
}

/** Without a configuration: Anthropic, with any model. */
function configuredModel(config: ResolvedConfig | undefined): ConfiguredModel {
  const anthropic = { kind: 'anthropic' } as const
  if (config === undefined) return { provider: defaultProvider, model: undefined, option: anthropic }
  const { provider, name: model } = config.runConfig.model
  return { provider, model, option: config.providers[provider] ?? anthropic }
}

/** More than the limits of a source for listing and closing: then it is closed, and the check names it. */
const toolSourcesMs = 40_000

/** More than a pod has for its start: then the check tells what it waits for. */
const sandboxesMs = 150_000

/** Runs all checks in parallel. Returns their results in a fixed order. */
export async function runChecks({ config: file, stateDirectory, onCheck }: DoctorOptions): Promise<readonly Check[]> {
  const report = async (
    name: string,
    run: () => Promise<readonly Check[]>,
    limitMs?: number,
  ): Promise<readonly Check[]> => {
    const checks = await withinLimit(name, run, limitMs)
    for (const check of checks) onCheck(check)
    return checks
  }
  const versions = report('Versions', () => Promise.resolve([checkNode(), checkPackages()]))
  const temporal = report('Temporal', () => checkTemporal(stateDirectory))
  let config: LoadedConfig | undefined
  const configuration = report('Configuration', async () => {
    const loaded = await checkConfig(file)
    ;({ config } = loaded)
    return [loaded.check]
  })
  const isBroken = (await configuration).some(({ status }) => status === 'error')
  const found = await Promise.all([
    versions,
    configuration,
    temporal,
    report('Sandboxes', () => checkSandboxes(config), sandboxesMs),
    report('Warm pool', async () => [await checkWarmPool(config)]),
    report('Values', async () => [await checkValues(config, stateDirectory)]),
    report('Audit log', () => checkAuditLog(config?.audit)),
    report('Live stream', () => checkStream(config?.stream)),
    report('Traces', () => checkTracing(config?.tracing)),
    report('Tool sources', () => checkTools(config), toolSourcesMs),
    report('Skills', () => checkSkills(config)),
    report('Credentials', () => checkCredentials(config)),
    report('Model', async () => [await checkModel(configuredModel(config))]),
    report('Workers', () => checkWorkers(config, isBroken)),
  ])
  return found.flat()
}
