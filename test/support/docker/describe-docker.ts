import { describe, inject } from 'vitest'
import { describeDependency } from './describe-dependency.js'
import { missingForPrivateDaemon } from './describe-gvisor.js'

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
  describeDependency('PTC_TEST_DOCKER', name, missingForPrivateDaemon(['dockerd']), tests)
}
