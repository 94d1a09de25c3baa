import type { Script } from '../../../src/testing/index.js'
import { type ProcessEnvironment, TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { Ledger } from '../../support/ledger.js'
import { type Crash, FailpointCrashes, killAtFailpoint } from './failpoint-crashes.js'

interface CrashingWorkers {
  readonly env: ProcessEnvironment
  readonly ledger: Ledger
  /** Number of workers that died at a failpoint. */
  readonly deaths: () => number
}

/** Starts workers of a configuration, of which the first ones die at these failpoints, and the last one survives. */
export async function startCrashingWorkers(
  crashes: readonly Crash[],
  { config, script }: { readonly config: string; readonly script: Script },
): Promise<CrashingWorkers> {
  const ledger = await Ledger.start()
  const failpoints = new FailpointCrashes(crashes, await temporaryFolder())
  const env = await TestEnvironment.startProcesses({
    script,
    config,
    preload: killAtFailpoint,
    environment: { LEDGER_URL: ledger.url, TEST_BACKEND: 'wasm' },
    initialWorkers: [],
  })
  await env.workers.keepRunning({
    options: (index) => ({ environment: failpoints.environment(index) }),
    onDeath: () => undefined,
  })
  return { env, ledger, deaths: () => failpoints.hits.filter(({ crashed }) => crashed).length }
}
