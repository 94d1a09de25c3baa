import { describe, inject } from 'vitest'
import { missingForOwnDaemon } from './gvisor.js'
import { wanted } from './wanted.js'

/**
 * `describe` for tests that need a Docker daemon. With PTC_TEST_DOCKER=required a missing daemon has failed the run before
 * any test; otherwise they are reported as skipped, with the reason in their name.
 */
export function describeDocker(name: string, tests: () => void): void {
  const docker = inject('docker')
  if (docker === 'available') describe(name, tests)
  else describe.skip(`${name} (${docker === 'off' ? 'Docker is off' : 'no Docker daemon'})`, tests)
}

/** `describe` for tests that start, break and kill a Docker daemon of their own. Needs root; else they are skipped, and say so. */
export function describeOwnDaemon(name: string, tests: () => void): void {
  const missing = missingForOwnDaemon(['dockerd'])
  if (missing === undefined) return void describe(name, tests)
  if (wanted('PTC_TEST_DOCKER') === 'required') throw new Error(`PTC_TEST_DOCKER=required, but there is ${missing}`)
  describe.skip(`${name} (there is ${missing})`, tests)
}
