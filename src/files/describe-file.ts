import { mediaTypeOf } from '../common/conversation/attachments.js'
import { defined } from '../common/defined.js'
import type { StoredFile } from '../common/files/files.js'
import { truncateEnd } from '../common/text/text.js'

/** The largest preview of a text. */
const preview = { lines: 10, characters: 800 } as const

/** The sizes of an image are in its first bytes. */
const headerBytes = 256 * 1024

/**
 * Returns what is said about a file. The packages for it are loaded with the first file: most processes have none.
 *
 * @param start the first bytes: all of them, or at least a MiB
 * @param declared the media type of content that is not recognized by its first bytes
 */
export async function describeFile(
  path: string,
  start: Buffer,
  declared?: string,
): Promise<Pick<StoredFile, 'mediaType' | 'pixels' | 'preview'>> {
  const found = mediaTypeOf(start.subarray(0, 24).toString('base64'))
  if (found !== undefined) return { mediaType: found, ...defined({ pixels: await pixelsOf(start) }) }
  const mediaType = declared ?? (await import('mime/lite')).default.getType(path) ?? 'application/octet-stream'
  return { mediaType, ...defined({ preview: previewOf(start) }) }
}

/** Undefined for data that only begins as an image does. */
async function pixelsOf(start: Buffer): Promise<StoredFile['pixels']> {
  const { imageSize } = await import('image-size')
  try {
    const { width, height } = imageSize(start.subarray(0, headerBytes))
    return { width, height }
  } catch {
    return undefined
  }
}

/** Undefined for data that is not text in UTF-8. */
function previewOf(start: Buffer): string | undefined {
  const bytes = start.subarray(0, 4 * preview.characters)
  // The last character may be cut off.
  const text = new TextDecoder().decode(bytes, { stream: true })
  // oxlint-disable-next-line no-control-regex
  if (text === '' || /[\0-\x08\x0e-\x1a\x1c-\x1f\ufffd]/.test(text)) return undefined
  const lines = text.trimEnd().split('\n', preview.lines + 1)
  const shown = lines.slice(0, preview.lines).join('\n')
  return truncateEnd(lines.length > preview.lines ? `${shown}\n…` : shown, preview.characters)
}
