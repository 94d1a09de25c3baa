import type { TestProject } from 'vitest/node'
import { type RunningServices, type TestServices, startServices } from './services.js'

declare module 'vitest' {
  interface ProvidedContext extends TestServices {}
}

let services: RunningServices | undefined

/** Before the first test, once for all projects; unit tests need no servers and wait for none. */
export async function setup(project: TestProject): Promise<void> {
  if (project.vitest.projects.every(({ name }) => name === 'unit')) return
  services = await startServices()
  project.provide('temporal', services.temporal)
  project.provide('docker', services.docker)
}

/** After the last test. */
export async function teardown(): Promise<void> {
  await services?.close()
}
