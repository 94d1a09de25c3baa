import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', ['json', { outputFile: 'test-report.json' }]],
    testTimeout: 30_000,
    hookTimeout: 60_000,
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
