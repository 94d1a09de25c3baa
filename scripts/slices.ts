import { readFileSync } from 'node:fs'

/** A test file as a project runs it. */
export interface PlannedFile {
  readonly project: string
  /** Relative to the root. */
  readonly file: string
}

/** Projects that every run of CI has whole; of the others it has one slice. */
const wholeProjects = new Set(['unit', 'integration', 'attacks'])

/** Shows that a mode does something, so every slice has it in every mode. */
const proofOfModes = 'test/modes/self.test.ts'

/** Of files that test-seconds.json does not have. */
const usualSeconds = { unit: 2, other: 10 }

const measured = JSON.parse(readFileSync(new URL('test-seconds.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, number>
>

/** For how long the file keeps a test worker busy while other files run beside it. */
export function expectedSeconds({ project, file }: PlannedFile): number {
  return measured[`${project} ${file}`] ?? (project === 'unit' ? usualSeconds.unit : usualSeconds.other)
}

/** A file that takes long is not begun last, or the other workers would have nothing left to do. */
export function longestFirst<File extends PlannedFile>(files: readonly File[]): File[] {
  return [...files].sort(
    (one, other) => expectedSeconds(other) - expectedSeconds(one) || (nameOf(one) < nameOf(other) ? -1 : 1),
  )
}

/**
 * The files of one of so many slices, which take about the same time: each file goes to the slice that has least to do
 * so far.
 *
 * @param index from 1
 */
export function slice<File extends PlannedFile>(files: readonly File[], index: number, count: number): File[] {
  const slices = Array.from({ length: count }, () => ({ files: [] as File[], seconds: 0 }))
  for (const file of longestFirst(files.filter((file) => !isInEverySlice(file)))) {
    const least = slices.reduce((one, other) => (other.seconds < one.seconds ? other : one))
    least.files.push(file)
    least.seconds += expectedSeconds(file)
  }
  return slices[index - 1]?.files ?? []
}

function isInEverySlice({ project, file }: PlannedFile): boolean {
  return wholeProjects.has(project) || file === proofOfModes
}

/** What CI runs: what is in every slice, and one slice. */
export function withSlice<File extends PlannedFile>(files: readonly File[], index: number, count: number): File[] {
  return [...files.filter(isInEverySlice), ...slice(files, index, count)]
}

function nameOf({ project, file }: PlannedFile): string {
  return `${project} ${file}`
}
