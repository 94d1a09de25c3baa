import { inputFolder, isToolFile, type LostFile, type StoredFile } from '../../../common/files/files.js'
import { formatBytes } from '../../../common/text/format.js'
import { pluralize } from '../../../common/text/text.js'
import { type Line, part } from './line.js'
import { oneLine } from './sanitize.js'

const maxShown = 20

/** Whether a client has uploaded the file. */
export function isUpload(file: StoredFile): boolean {
  return file.path.startsWith(`${inputFolder}/`) && !isToolFile(file)
}

/** The size and the type of a file. */
export function describeType({ mediaType, bytes }: StoredFile): string {
  return `${oneLine(mediaType)} · ${formatBytes(bytes)}`
}

/** One line for each file; unless `full`, for the first ones. */
export function fileLines(
  files: readonly StoredFile[] = [],
  lost: readonly LostFile[] = [],
  { full }: { readonly full: boolean },
): readonly Line[] {
  const lines: readonly Line[] = [
    ...files.map((file) => [part(oneLine(file.path)), part(`  ${describeType(file)}`, 'dim')]),
    ...lost.map(({ path, problem }) => [part(`${oneLine(path)}  not kept: ${oneLine(problem)}`, 'yellow')]),
  ]
  // A line that says "1 more file" takes as much space as that file.
  if (full || lines.length <= maxShown + 1) return lines
  return [...lines.slice(0, maxShown), [part(`… ${pluralize(lines.length - maxShown, 'more file')}`, 'dim')]]
}
