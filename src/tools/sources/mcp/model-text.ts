import { isJsonObject, type JsonObject } from '../../../common/json/json.js'
import { formatBytes } from '../../../common/text/format.js'
import type { AddImage } from '../../calls/run-tool.js'

/**
 * The blocks of a result for a model that sees images: a text with the names of the images in it. The model can't use
 * the Base64 of other blocks, so their size is named.
 */
export function toModelText(blocks: readonly JsonObject[], addImage: AddImage): string {
  return blocks.map((block) => describe(block, addImage)).join('\n')
}

function describe(block: JsonObject, addImage: AddImage): string {
  const { type, text, data, mimeType, resource } = block
  if (type === 'text' && typeof text === 'string') return text
  if (type === 'image') return image(data, addImage)
  if (type === 'audio' && typeof data === 'string') return `[audio, ${sizeOf(data, mimeType)}: only code gets it]`
  return type === 'resource' && isJsonObject(resource) ? describeResource(resource, addImage) : JSON.stringify(block)
}

function describeResource(resource: JsonObject, addImage: AddImage): string {
  const { uri, text, blob, mimeType } = resource
  const name = typeof uri === 'string' ? `[resource ${uri}]` : '[resource]'
  if (typeof text === 'string') return `${name}\n${text}`
  if (typeof blob !== 'string') return JSON.stringify(resource)
  if (typeof mimeType === 'string' && mimeType.startsWith('image/')) return `${name} ${image(blob, addImage)}`
  return `${name} [${sizeOf(blob, mimeType)}: only code gets it]`
}

function image(data: unknown, addImage: AddImage): string {
  return `[${addImage(typeof data === 'string' ? data : '')}]`
}

function sizeOf(base64: string, mimeType: unknown): string {
  const bytes = formatBytes(Math.floor((base64.length * 3) / 4))
  return typeof mimeType === 'string' ? `${mimeType}, ${bytes}` : bytes
}
