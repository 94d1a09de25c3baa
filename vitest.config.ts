import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { expectedSeconds, longestFirst, type TestFile, selectShard, withShard } from './scripts/tests/shards.js'

/** Tests mostly wait: for a container, a timer, a killed process that is missed. */
const workers = availableParallelism() * 2

/** Reached on failure only: a machine that is slow and shared does not fail a test. */
const patience = { testTimeout: 600_000, hookTimeout: 300_000, expect: { poll: { timeout: 300_000, interval: 50 } } }

/** `npm run coverage`: processes that tests start, and their threads, write their coverage to this folder. */
const processCoverage = process.env['PTC_PROCESS_COVERAGE']
const env: Record<string, string> = processCoverage === undefined ? {} : { NODE_V8_COVERAGE: processCoverage }

/**
 * What a project of these files is. All look only at what is their own, so they may run side by side.
 *
 * @param isolate each file loads all modules anew: twice the processor time of most files
 */
function project(name: string, include: string, { isolate = true, exclude = [] as string[] } = {}) {
  return { test: { ...patience, env, name, isolate, include: [include], exclude } }
}

/** Unit tests that replace modules, or install the runtime of Temporal's SDK, which a process has once. */
const isolated = '{src/workflows/**/*,src/worker/uncaught-errors}.test.ts'

/** Tests of whole runs, on workers in the process of the test. */
const runs = 'test/{integration,slow}/runs/**/*.test.ts'

/** The same on workers that are processes of their own: always-replay gets into them. */
const workerProcesses = 'test/{integration,slow}/worker-processes/**/*.test.ts'

/** The functional suite, in a harder world, which takes its time: `npm run test:modes`. */
function inMode(mode: 'always-replay' | 'always-evict' | 'always-reattach', include: string[]) {
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

/**
 * Orders files by what they took before, and makes `--shard` choose a shard of the long suites
 * (scripts/tests/shards.ts).
 */
class PlannedSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return longestFirst(files.map((file) => this.#planned(file))).map(({ specification }) => specification)
  }

  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 }
    const planned = files.map((file) => this.#planned(file))
    const chosen = selectShard(planned, index, count)
    const seconds = chosen.reduce((total, file) => total + expectedSeconds(file), 0)
    const names = chosen.map(({ project, file }) => `  ${project} ${file}\n`).join('')
    const share = `shard ${index} of ${count} of the long suites: ${chosen.length} test files`
    this.ctx.logger.log(`${share}, about ${Math.ceil(seconds / workers / 60)} minutes\n${names}`)
    return withShard(planned, index, count).map(({ specification }) => specification)
  }

  #planned(specification: TestSpecification): TestFile & { specification: TestSpecification } {
    const file = relative(this.ctx.config.root, specification.moduleId)
    return { project: specification.project.name, file, specification }
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: PlannedSequencer },
    globalSetup: ['test/support/setup/global-setup.ts'],
    teardownTimeout: 60_000,
    maxWorkers: workers,
    coverage: {
      include: ['src/**/*.ts'],
      exclude: ['src/**/*.test.ts'],
      reporter: ['lcovonly'],
      reportOnFailure: true,
    },
    projects: [
      project('unit', '{src,scripts}/**/*.test.ts', { isolate: false, exclude: [isolated] }),
      project('unit-isolated', isolated),
      ...['integration', 'attacks'].map((name) => project(name, `test/${name}/**/*.test.ts`, { isolate: false })),
      ...['slow', 'chaos', 'live'].map((name) => project(name, `test/${name}/**/*.test.ts`)),
      inMode('always-replay', [runs, workerProcesses]),
      inMode('always-evict', [runs]),
      inMode('always-reattach', [runs]),
    ],
  },
})
