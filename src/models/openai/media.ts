import { PtcError } from '../../common/errors.js'
import type { UserBlock } from '../../common/agent/messages.js'

/** An image, or a document with its name, as a data URL. */
export interface Media {
  readonly url: string
  /** Undefined for an image. */
  readonly filename: string | undefined
}

/** The image or document of a block; undefined for other blocks, and for a block without data. */
export function mediaOf(block: UserBlock): Media | undefined {
  if (block.type !== 'image' && block.type !== 'document') return undefined
  const { data, media_type: type } = block.source
  // Messages from other sources may have the URL or the id of a file.
  const { type: kind, url } = block.source as { readonly type: string; readonly url?: unknown }
  if (block.type === 'image' && kind === 'url' && typeof url === 'string') return { url, filename: undefined }
  if (typeof data !== 'string') {
    throw new PtcError(
      'MODEL_BAD_REQUEST',
      `the model can't read ${block.type === 'image' ? 'an image' : 'a document'} from a source of type ${kind}`,
      {
        hint: 'Give its data as base64.',
      },
    )
  }
  const filename = block.type === 'document' ? (block.title ?? 'document.pdf') : undefined
  return { url: `data:${type};base64,${data}`, filename }
}
