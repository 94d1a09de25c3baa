import { execFileSync } from 'node:child_process'
import Dockerode from 'dockerode'
import { describe, inject } from 'vitest'

export const gvisorRuntime = 'runsc'

/**
 * `describe` for tests with gVisor. Without it the tests are skipped, with the reason in their name; with
 * PTC_TEST_GVISOR=required the file fails.
 */
export function describeGvisor(name: string, missing: string | undefined, tests: () => void): void {
  if (missing === undefined) return void describe(name, tests)
  if (process.env['PTC_TEST_GVISOR'] === 'required') {
    throw new Error(`gVisor is required (PTC_TEST_GVISOR=required), but there is ${missing}`)
  }
  describe.skip(`${name} (there is ${missing})`, tests)
}

/** The missing requirement for containers with gVisor on the machine's daemon; undefined when there is none. */
export async function missingGvisorRuntime(): Promise<string | undefined> {
  if (inject('docker') !== 'available') return 'no Docker daemon'
  const { Runtimes } = (await new Dockerode().info()) as { readonly Runtimes?: Readonly<Record<string, unknown>> }
  return Runtimes && gvisorRuntime in Runtimes ? undefined : `no runtime ${gvisorRuntime} in the Docker daemon`
}

/** The missing requirement for a private daemon with gVisor and checkpoints; undefined when there is none. */
export function missingForPrivateDaemon(commands = ['dockerd', gvisorRuntime]): string | undefined {
  if (inject('docker') !== 'available') return 'no Docker daemon'
  if (process.getuid?.() !== 0) return 'no root to start a daemon'
  return commands.map((command) => (isInstalled(command) ? undefined : `no ${command}`)).find(Boolean)
}

function isInstalled(command: string): boolean {
  try {
    execFileSync('which', [command], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
