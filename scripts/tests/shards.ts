import { readFileSync } from 'node:fs'

/** A test file in one project. */
export interface TestFile {
  readonly project: string
  /** Path relative to the root. */
  readonly file: string
}

/**
 * Projects that every run of CI runs completely, except for their long files. Of the other projects it runs one shard.
 */
const unshardedProjects = new Set(['unit', 'unit-isolated', 'integration', 'attacks'])

const longAttacks = 'test/attacks/slow/'

/** This test proves that each mode has an effect, so every shard includes it. */
const modesSelfTest = 'test/integration/runs/modes/mode-control.test.ts'

/** For files that are not in test-durations.json. */
const defaultSeconds = { unit: 2, other: 10 }

const measured = JSON.parse(readFileSync(new URL('test-durations.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, number>
>

/** Time that the file keeps a test worker busy while other files run. */
export function expectedSeconds({ project, file }: TestFile): number {
  return measured[`${project} ${file}`] ?? (project.startsWith('unit') ? defaultSeconds.unit : defaultSeconds.other)
}

/** Sorts by duration: a long file that starts last would leave the other workers idle. */
export function longestFirst<File extends TestFile>(files: readonly File[]): File[] {
  return [...files].sort(
    (one, other) => expectedSeconds(other) - expectedSeconds(one) || (nameOf(one) < nameOf(other) ? -1 : 1),
  )
}

/**
 * Returns the files of one shard. All shards take about the same time: each file goes to the shortest shard so far.
 *
 * @param index from 1
 */
export function selectShard<File extends TestFile>(files: readonly File[], index: number, count: number): File[] {
  const shards = Array.from({ length: count }, () => ({ files: [] as File[], seconds: 0 }))
  for (const file of longestFirst(files.filter((file) => !isInEveryShard(file)))) {
    const shortest = shards.reduce((one, other) => (other.seconds < one.seconds ? other : one))
    shortest.files.push(file)
    shortest.seconds += expectedSeconds(file)
  }
  return shards[index - 1]?.files ?? []
}

function isInEveryShard({ project, file }: TestFile): boolean {
  return (unshardedProjects.has(project) && !file.startsWith(longAttacks)) || file === modesSelfTest
}

/** Returns the files that CI runs: the files for every run, and the files of one shard. */
export function withShard<File extends TestFile>(files: readonly File[], index: number, count: number): File[] {
  return [...files.filter(isInEveryShard), ...selectShard(files, index, count)]
}

function nameOf({ project, file }: TestFile): string {
  return `${project} ${file}`
}
