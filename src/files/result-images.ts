import { attachmentLimits, isImageType, shownImages, tooManyImages } from '../common/conversation/attachments.js'
import { externalValue, type ResultImage, type ResultImages } from '../common/json/external-value.js'
import { pluralize } from '../common/text/text.js'
import type { Values } from '../values/values.js'
import { describeFile } from './describe-file.js'

/** A server may return very many images, or things that are none. Only the first are read, and described. */
const maxRead = 20

/** The images of one result, for a model. They are stored after the call, which must not be repeated. */
export class FoundImages {
  readonly #found: string[] = []
  #count = 0

  get isEmpty(): boolean {
    return this.#count === 0
  }

  /** @returns the name of the image for the model */
  readonly add = (data: string): string => {
    this.#count += 1
    if (this.#count <= maxRead) this.#found.push(data)
    return nameOf(this.#count)
  }

  /**
   * Stores the first images that a model can see.
   *
   * @param limit the number of images that it may see
   * @throws errors of the value store
   */
  async store(values: Pick<Values, 'store'>, limit: number, signal: AbortSignal): Promise<ResultImages> {
    const shown: ResultImage[] = []
    const notes: string[] = []
    let read = 0
    for (const data of this.#found) {
      if (shown.length >= limit) break
      read += 1
      const name = nameOf(read)
      const image = await readImage(data)
      if (typeof image === 'string') {
        notes.push(`[${name}] is not shown: ${image}`)
        continue
      }
      // The preview of a value is shown in the Temporal UI, and Base64 tells nothing.
      const stored = externalValue({ ...(await values.store(image.base64, signal)), preview: '' })
      shown.push({ name, mediaType: image.mediaType, data: stored })
    }
    const others = this.#count - read
    const reason = shown.length < limit ? `only the first ${maxRead} are read` : tooManyImages
    if (others > 0) notes.push(`${pluralize(others, 'more image')} not shown: ${reason}`)
    return { shown, note: notes.join('\n') }
  }
}

function nameOf(number: number): string {
  return `image ${number}`
}

/** Returns the image as an API accepts it, or why it is not shown. The bytes decide the type, not the server. */
async function readImage(data: string): Promise<{ readonly mediaType: string; readonly base64: string } | string> {
  const { imageBytes } = attachmentLimits
  const isLarge = (bytes: number) => bytes > imageBytes
  const tooLarge = `it has more than ${imageBytes / 2 ** 20} MiB`
  // Base64 has 4 characters for 3 bytes. Larger data is not decoded.
  if (isLarge(Math.floor((data.length - 4) / 4) * 3)) return tooLarge
  const bytes = Buffer.from(data, 'base64')
  if (isLarge(bytes.length)) return tooLarge
  const { mediaType, pixels } = await describeFile('image', bytes)
  if (!isImageType(mediaType) || !pixels) return 'it is no PNG, JPEG, GIF or WebP'
  const { width, height } = pixels
  if (Math.max(width, height) <= shownImages.pixels) return { mediaType, base64: bytes.toString('base64') }
  return `it has ${width} x ${height} pixels; ${shownImages.pixels} are the limit for each side`
}
