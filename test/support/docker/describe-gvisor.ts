import { execFileSync } from 'node:child_process'
import Dockerode from 'dockerode'
import { inject } from 'vitest'
import { describeDependency } from './describe-dependency.js'

export const gvisorRuntime = 'runsc'

/** `describe` for tests with gVisor, as PTC_TEST_GVISOR requires. */
export function describeGvisor(name: string, missing: string | undefined, tests: () => void): void {
  describeDependency('PTC_TEST_GVISOR', name, missing, tests)
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
