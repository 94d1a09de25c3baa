import type { Script } from '../../../src/testing/index.js'
import { type ProcessEnvironment, TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { Ledger } from '../../support/ledger.js'
import { type Crash, FailpointCrashes, killAtFailpoint } from './failpoint-crashes.js'

interface CrashingWorkers {
  readonly env: ProcessEnvironment
  readonly ledger: Ledger
  /** Number of workers that died. */
  readonly deaths: () => number
}

interface CrashingWorkersOptions {
  readonly config: string
  readonly script: Script
  /** Folder of the value store, if the configuration takes it from `TEST_VALUES`. */
  readonly store?: string
  /** More environment variables of the workers. */
  readonly environment?: Readonly<Record<string, string>>
}

/** The variables of a configuration for a backend without a warm pool, and for a local value store. */
export function backendEnvironment(backend: string, store: string): Readonly<Record<string, string>> {
  return {
    TEST_BACKEND: backend,
    TEST_WARM: '0',
    TEST_VALUE_STORE: JSON.stringify({ kind: 'local', directory: store }),
  }
}

/** Starts workers of a configuration. The first ones die at these failpoints, and the last one survives. */
export async function startCrashingWorkers(
  crashes: readonly Crash[],
  { config, script, store, environment = {} }: CrashingWorkersOptions,
): Promise<CrashingWorkers> {
  const ledger = await Ledger.start()
  const failpoints = new FailpointCrashes(crashes, await temporaryFolder())
  const env = await TestEnvironment.startProcesses({
    script,
    config,
    preload: killAtFailpoint,
    ...(store !== undefined && { store: { kind: 'local', directory: store } }),
    environment: {
      LEDGER_URL: ledger.url,
      TEST_BACKEND: 'wasm',
      ...(store !== undefined && { TEST_VALUES: store }),
      ...environment,
    },
    initialWorkers: [],
  })
  let deaths = 0
  await env.workers.keepRunning({
    options: (index) => ({ environment: failpoints.environment(index) }),
    onDeath: () => (deaths += 1),
  })
  return { env, ledger, deaths: () => deaths }
}
