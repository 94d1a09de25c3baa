import type { UserBlock } from '../../common/runs/messages.js'

/** An image, or a document with its name, as a data URL. */
export interface Media {
  readonly url: string
  /** Undefined for an image. */
  readonly filename: string | undefined
}

/** The image or document of a block; undefined for another block, or one without data. */
export function mediaOf(block: UserBlock): Media | undefined {
  if (block.type !== 'image' && block.type !== 'document') return undefined
  const { data, media_type: type } = block.source
  // Messages from elsewhere may have the URL of a file, or its id.
  if (typeof data !== 'string') return undefined
  const filename = block.type === 'document' ? (block.title ?? 'document.pdf') : undefined
  return { url: `data:${type};base64,${data}`, filename }
}
