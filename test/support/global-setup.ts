import type { TestProject } from 'vitest/node'
import { type RunningServices, type TestServices, startServices } from './services.js'

declare module 'vitest' {
  interface ProvidedContext extends TestServices {}
}

let starting: Promise<RunningServices> | undefined

/** Before the first test. vitest calls this for all of its projects at once; unit tests need no servers and wait for none. */
export async function setup(project: TestProject): Promise<void> {
  if (project.name === 'unit') return
  starting ??= startServices()
  const services = await starting
  project.provide('temporal', services.temporal)
  project.provide('docker', services.docker)
}

/** After the last test. */
export async function teardown(): Promise<void> {
  const services = await starting
  await services?.close()
}
