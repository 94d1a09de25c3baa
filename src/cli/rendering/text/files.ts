import { inputFolder, type LostFile, type StoredFile } from '../../../common/files/files.js'
import { formatBytes } from '../../../common/text/format.js'
import { pluralize } from '../../../common/text/text.js'
import { type Line, part } from './line.js'
import { oneLine } from './sanitize.js'

const maxShown = 20

/** Whether a client has uploaded the file. All other files are artifacts. */
export function isUpload({ path }: StoredFile): boolean {
  return path.startsWith(`${inputFolder}/`)
}

/** One line for each file; unless `full`, for the first ones. */
export function fileLines(
  files: readonly StoredFile[] = [],
  lost: readonly LostFile[] = [],
  { full }: { readonly full: boolean },
): readonly Line[] {
  const lines: readonly Line[] = [
    ...files.map(({ path, mediaType, bytes }) => [
      part(oneLine(path)),
      part(`  ${oneLine(mediaType)} · ${formatBytes(bytes)}`, 'dim'),
    ]),
    ...lost.map(({ path, problem }) => [part(`${oneLine(path)}  not kept: ${oneLine(problem)}`, 'yellow')]),
  ]
  // A line that says "1 more file" takes as much space as that file.
  if (full || lines.length <= maxShown + 1) return lines
  return [...lines.slice(0, maxShown), [part(`… ${pluralize(lines.length - maxShown, 'more file')}`, 'dim')]]
}
