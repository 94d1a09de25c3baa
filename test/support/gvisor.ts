import { execFileSync } from 'node:child_process'
import Dockerode from 'dockerode'
import { describe, inject } from 'vitest'

export const gvisorRuntime = 'runsc'

/**
 * `describe` for tests under gVisor. With PTC_TEST_GVISOR=required what is missing fails the file; otherwise they are reported as
 * skipped, with the reason in their name.
 */
export function describeGvisor(name: string, missing: string | undefined, tests: () => void): void {
  if (missing === undefined) return void describe(name, tests)
  if (process.env['PTC_TEST_GVISOR'] === 'required') {
    throw new Error(`gVisor is required (PTC_TEST_GVISOR=required), but there is ${missing}`)
  }
  describe.skip(`${name} (there is ${missing})`, tests)
}

/** What keeps the machine's own daemon from running containers under gVisor; undefined when nothing does. */
export async function missingFromDaemon(): Promise<string | undefined> {
  if (inject('docker') !== 'available') return 'no Docker daemon'
  const { Runtimes } = (await new Dockerode().info()) as { readonly Runtimes?: Readonly<Record<string, unknown>> }
  return Runtimes && gvisorRuntime in Runtimes ? undefined : `no runtime ${gvisorRuntime} in the Docker daemon`
}

/** What keeps a daemon of the tests' own, with gVisor and checkpoints, from being started. */
export function missingForOwnDaemon(commands = ['dockerd', gvisorRuntime]): string | undefined {
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
