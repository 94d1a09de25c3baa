import { defineConfig } from 'vitest/config'

/** Reached on failure only: a machine that is slow and shared does not fail a test. */
const patience = { testTimeout: 180_000, hookTimeout: 300_000, expect: { poll: { timeout: 120_000, interval: 50 } } }

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', ['json', { outputFile: 'test-report.json' }]],
    ...patience,
    projects: [
      { extends: true, test: { name: 'unit', include: ['src/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/**/*.test.ts'],
          exclude: ['test/attacks/**'],
          fileParallelism: false,
        },
      },
      // Minutes of hostile code: `npm run test:attacks`.
      { extends: true, test: { name: 'attacks', include: ['test/attacks/**/*.test.ts'], fileParallelism: false } },
    ],
  },
})
