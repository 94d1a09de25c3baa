import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { expectedSeconds, longestFirst, type PlannedFile, slice, withSlice } from './scripts/slices.js'

/** Tests mostly wait: for a container, a timer, a killed process that is missed. */
const workers = availableParallelism() * 2

/** Reached on failure only: a machine that is slow and shared does not fail a test. */
const patience = { testTimeout: 600_000, hookTimeout: 300_000, expect: { poll: { timeout: 300_000, interval: 50 } } }

/** What a project of these files is. All look only at what is their own, so they may run side by side. */
function project(name: string, include: string | string[], exclude: string[] = []) {
  return { test: { ...patience, name, include: [include].flat(), exclude } }
}

/** What takes long: left to `npm run test:chaos`, so that `npm test` ends in minutes. */
const long = [
  'test/limits/limits.test.ts',
  'test/{endless,large-values,parking}/*.test.ts',
  'test/run-tree/chain.test.ts',
  'test/rebuild/ordinary-code.test.ts',
  'test/sessions/crash.test.ts',
  'test/cli/long-runs.test.ts',
  'test/snapshots/*.test.ts',
  'test/sandbox/{docker-pool,docker-pool-conformance,wasm-backend,wasm-boot-image,wasm-conformance,wasm-jail}.test.ts',
  'test/package/package.test.ts',
]

/** Tests of whole runs, on workers in the process of the test. */
const functional = [
  'test/{agent,program,endless,large-values}/*.test.ts',
  'test/modes/self.test.ts',
  'test/sessions/{expiry,interrupt,limits,runs,sessions}.test.ts',
  'test/limits/{captured-output,limits,run-limits}.test.ts',
  'test/parking/parking.test.ts',
  'test/run-tree/chain.test.ts',
  'test/team-expenses/end-to-end.test.ts',
  'test/values/{payload-storage,s3-run}.test.ts',
]

/** The same on workers that are processes of their own: always-replay gets into them. */
const inProcesses = [
  'test/chaos/crash.test.ts',
  'test/cli/long-runs.test.ts',
  'test/modes/processes.test.ts',
  'test/sessions/crash.test.ts',
]

/** The functional suite, in a harder world, which takes its time: `npm run test:modes`. */
function inMode(mode: 'always-replay' | 'always-evict' | 'always-reattach', include = functional) {
  return {
    test: {
      ...patience,
      name: mode,
      include,
      setupFiles: [`test/modes/${mode}.ts`],
      provide: { mode },
    },
  }
}

/** Orders files by what they took before, and makes `--shard` choose a slice of what takes long (scripts/slices.ts). */
class PlannedSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return longestFirst(files.map((file) => this.#planned(file))).map(({ specification }) => specification)
  }

  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 }
    const planned = files.map((file) => this.#planned(file))
    const chosen = slice(planned, index, count)
    const seconds = chosen.reduce((total, file) => total + expectedSeconds(file), 0)
    const names = chosen.map(({ project, file }) => `  ${project} ${file}\n`).join('')
    const share = `slice ${index} of ${count} of the long suites: ${chosen.length} test files`
    this.ctx.logger.log(`${share}, about ${Math.ceil(seconds / workers / 60)} minutes\n${names}`)
    return withSlice(planned, index, count).map(({ specification }) => specification)
  }

  #planned(specification: TestSpecification): PlannedFile & { specification: TestSpecification } {
    const file = relative(this.ctx.config.root, specification.moduleId)
    return { project: specification.project.name, file, specification }
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: PlannedSequencer },
    globalSetup: ['test/support/global-setup.ts'],
    teardownTimeout: 60_000,
    maxWorkers: workers,
    projects: [
      project('unit', '{src,scripts}/**/*.test.ts'),
      // Of chaos only what shows that it works: the rest takes long.
      project('integration', 'test/**/*.test.ts', [
        ...long,
        'test/attacks/**',
        'test/chaos/!(representative).test.ts',
        'test/chaos/*/**',
      ]),
      project('long', long),
      project('attacks', 'test/attacks/**/*.test.ts'),
      project('chaos', 'test/chaos/**/*.test.ts', ['test/chaos/representative.test.ts']),
      inMode('always-replay', [...functional, ...inProcesses]),
      inMode('always-evict'),
      inMode('always-reattach'),
    ],
  },
})
