import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** Reached on failure only: a machine that is slow and shared does not fail a test. */
const patience = { testTimeout: 180_000, hookTimeout: 300_000, expect: { poll: { timeout: 120_000, interval: 50 } } }

/** What a project of these files is. All look only at what is their own, so they may run side by side. */
function project(name: string, include: string, exclude: string[] = []) {
  return { test: { ...patience, name, include: [include], exclude } }
}

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', ['json', { outputFile: 'test-report.json' }]],
    teardownTimeout: 60_000,
    // Tests mostly wait: for a container, a timer, a killed process that is missed.
    maxWorkers: availableParallelism() + 1,
    projects: [
      project('unit', 'src/**/*.test.ts'),
      // Of chaos only what shows that it works: the rest takes long.
      project('integration', 'test/**/*.test.ts', [
        'test/attacks/**',
        'test/chaos/!(representative).test.ts',
        'test/chaos/*/**',
      ]),
      project('attacks', 'test/attacks/**/*.test.ts'),
      project('chaos', 'test/chaos/**/*.test.ts', ['test/chaos/representative.test.ts']),
    ],
  },
})
