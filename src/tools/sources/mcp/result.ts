import type { CallToolResult } from '@modelcontextprotocol/client'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../common/json/json.js'
import { formatBytes } from '../../../common/text/format.js'
import { truncateMiddle } from '../../../common/text/text.js'
import type { AddImage } from '../../calls/run-tool.js'
import { ToolError } from '../../tool-error.js'

/** The result of a tool without an output schema: text, or a list of blocks when there is more than text. */
export const contentSchema: JsonObject = {
  anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#/$defs/ContentBlock' } }],
  $defs: {
    ContentBlock: {
      type: 'object',
      properties: {
        type: { type: 'string', description: 'text, image, audio, resource or resource_link' },
        text: { type: 'string' },
        data: { type: 'string', description: 'image or audio in base64' },
        mimeType: { type: 'string' },
        uri: { type: 'string' },
        resource: { type: 'object' },
      },
      required: ['type'],
    },
  },
}

const maxErrorCharacters = 10_000

/**
 * The result of a call for code.
 *
 * @param hasSchema the tool has an output schema; the caller checks the result by it
 * @throws ToolError with the server's text when the server says that the call failed
 */
export function resultOf({ content, structuredContent, isError }: CallToolResult, hasSchema: boolean): JsonValue {
  const blocks = content as unknown as readonly JsonObject[]
  // The content of an error has no output schema.
  if (isError === true) throw new ToolError(errorText(blocks, structuredContent))
  if (hasSchema) return structuredResult(blocks, structuredContent)
  const texts = blocks.map((block) => (block['type'] === 'text' ? block['text'] : undefined))
  if (texts.every((text) => typeof text === 'string')) return texts.join('\n')
  return blocks.map(withoutAnnotations)
}

/** Servers of older protocols have the result only as text. */
function structuredResult(blocks: readonly JsonObject[], structured: unknown): JsonValue {
  if (structured !== undefined) return structured as JsonValue
  const [only, ...others] = blocks
  const text = only?.['type'] === 'text' && others.length === 0 ? only['text'] : undefined
  try {
    if (typeof text === 'string') return JSON.parse(text) as JsonValue
  } catch {
    // Reported below.
  }
  throw new Error('the server returned no structured content, which the output schema of the tool promises')
}

function errorText(blocks: readonly JsonObject[], structured: unknown): string {
  const texts = blocks.flatMap((block) => (typeof block['text'] === 'string' ? [block['text']] : []))
  const text = texts.join('\n').trim()
  if (text !== '') return truncateMiddle(text, maxErrorCharacters)
  return structured === undefined
    ? 'the server reported an error without a text'
    : truncateMiddle(JSON.stringify(structured), maxErrorCharacters)
}

/** Annotations and metadata are for clients, and cost tokens. */
export function withoutAnnotations({ annotations: _, _meta: __, ...block }: JsonObject): JsonObject {
  const { resource } = block
  if (!isJsonObject(resource)) return block
  const { _meta: ___, ...plain } = resource
  return { ...block, resource: plain }
}

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
