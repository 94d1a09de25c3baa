import { describe, inject } from 'vitest'
import { missingForPrivateDaemon } from './describe-gvisor.js'
import { requirementOf } from '../setup/optional-dependency.js'

/**
 * `describe` for tests that need a Docker daemon. Without one the tests are skipped, with the reason in their name.
 * (With PTC_TEST_DOCKER=required a missing daemon fails the run before any test.)
 */
export function describeDocker(name: string, tests: () => void): void {
  const docker = inject('docker')
  if (docker === 'available') describe(name, tests)
  else describe.skip(`${name} (${docker === 'off' ? 'Docker is off' : 'no Docker daemon'})`, tests)
}

/** `describe` for tests that start, break and kill a private Docker daemon. Without root the tests are skipped. */
export function describePrivateDaemon(name: string, tests: () => void): void {
  const missing = missingForPrivateDaemon(['dockerd'])
  if (missing === undefined) return void describe(name, tests)
  if (requirementOf('PTC_TEST_DOCKER') === 'required')
    throw new Error(`PTC_TEST_DOCKER=required, but there is ${missing}`)
  describe.skip(`${name} (there is ${missing})`, tests)
}
