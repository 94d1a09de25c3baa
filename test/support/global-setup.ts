import type { TestProject } from 'vitest/node'
import { type RunningServices, type TestServices, startServices } from './services.js'

declare module 'vitest' {
  interface ProvidedContext extends TestServices {}
}

interface Shared {
  users: number
  services: Promise<RunningServices>
}

/** vitest runs this file once for each of its projects, in one process: all of them share one set of services. */
const registry = globalThis as typeof globalThis & { durablePtcTestServices?: Shared }

/** Before the first test. */
export async function setup(project: TestProject): Promise<void> {
  registry.durablePtcTestServices ??= { users: 0, services: startServices() }
  const shared = registry.durablePtcTestServices
  shared.users += 1
  const { temporal, docker } = await shared.services
  project.provide('temporal', temporal)
  project.provide('docker', docker)
}

/** After the last test. */
export async function teardown(): Promise<void> {
  const shared = registry.durablePtcTestServices
  if (shared === undefined) return
  shared.users -= 1
  if (shared.users > 0) return
  delete registry.durablePtcTestServices
  await (await shared.services).close()
}
