import { fileURLToPath } from 'node:url'
import type { Script } from '../../../src/testing/index.js'
import { Ledger } from '../ledger.js'
import type { Backend } from './backends.js'
import { type ProcessEnvironment, type ProcessEnvironmentOptions, TestEnvironment } from './test-environment.js'

/** Configuration of workers whose tools apply their effects in a ledger. */
export const ledgerConfig = fileURLToPath(new URL('../../fixtures/ledger.config.ts', import.meta.url))

export interface LedgerEnvironmentOptions extends Pick<
  ProcessEnvironmentOptions,
  'address' | 'encryption' | 'initialWorkers' | 'store'
> {
  /** Default: Docker. */
  readonly backend?: Backend | 'kubernetes'
  /** Environment variables that the configuration of the workers reads. */
  readonly environment?: NodeJS.ProcessEnv
}

/** Worker processes and the ledger of their effects. */
export interface LedgerEnvironment {
  readonly env: ProcessEnvironment
  readonly ledger: Ledger
}

/** Starts a ledger, and an environment with one worker process that uses it; both end with the test. */
export async function startWithLedger(
  script: Script,
  { backend = 'docker', environment, ...options }: LedgerEnvironmentOptions = {},
): Promise<LedgerEnvironment> {
  const ledger = await Ledger.start()
  const env = await TestEnvironment.startProcesses({
    ...options,
    script,
    config: ledgerConfig,
    environment: { LEDGER_URL: ledger.url, TEST_BACKEND: backend, ...environment },
  })
  return { env, ledger }
}
