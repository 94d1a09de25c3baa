import type { TestProject } from 'vitest/node'
import type { RunningServices, TestServices } from './services.js'

declare module 'vitest' {
  interface ProvidedContext extends TestServices {}
}

let services: RunningServices | undefined

/** Runs once, before the first test of all projects. Unit tests need no services, and don't load their code. */
export async function setup(project: TestProject): Promise<void> {
  if (project.vitest.projects.every(({ name }) => name === 'unit')) return
  const { startServices } = await import('./services.js')
  services = await startServices()
  project.provide('temporal', services.temporal)
  project.provide('docker', services.docker)
}

/** Runs after the last test. */
export async function teardown(): Promise<void> {
  await services?.close()
}
