import { describe, inject } from 'vitest'

/**
 * `describe` for tests that need a Docker daemon. With PTC_TEST_DOCKER=required a missing daemon has failed the run before
 * any test; otherwise they are reported as skipped, with the reason in their name.
 */
export function describeDocker(name: string, tests: () => void): void {
  const docker = inject('docker')
  if (docker === 'available') describe(name, tests)
  else describe.skip(`${name} (${docker === 'off' ? 'Docker is off' : 'no Docker daemon'})`, tests)
}
