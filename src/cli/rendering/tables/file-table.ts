import type { StoredFile } from '../../../common/files/files.js'
import { formatBytes } from '../../../common/text/format.js'
import { oneLine } from '../text/sanitize.js'
import { renderColumns } from './column-table.js'

/** @param width columns of the terminal; undefined: unlimited */
export function renderFileTable(files: readonly StoredFile[], width: number | undefined): string {
  const rows = files.map(({ path, bytes, mediaType }) => [oneLine(path), formatBytes(bytes), oneLine(mediaType)])
  return renderColumns([['PATH', 'SIZE', 'TYPE'], ...rows], width)
}
