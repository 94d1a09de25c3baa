/*
 * Attachments: images and PDFs of a message. Their bytes are in the value store, and never in the history of a
 * workflow.
 */

import { defined } from '../defined.js'
import { type ExternalValue, isExternal, refOf } from '../json/external-value.js'
import type { JsonValue } from '../json/json.js'
import type { MediaBlock, PendingBlock } from '../agent/messages.js'

/** A file type that models read. */
export type MediaType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'application/pdf'

/** Matches the start of the base64 text of a file of the type. */
const beginnings: Readonly<Record<MediaType, RegExp>> = {
  'image/png': /^iVBORw0KGg[o-r]/,
  'image/jpeg': /^\/9j\//,
  'image/gif': /^R0lGOD/,
  'image/webp': /^UklGR.{7}RUJQ/,
  'application/pdf': /^JVBERi0/,
}

export const mediaTypes = Object.keys(beginnings) as readonly MediaType[]

/** Whether models read files of the type as images. */
export function isImageType(mediaType: string): boolean {
  return mediaType.startsWith('image/') && mediaTypes.some((type) => type === mediaType)
}

/** An image or a PDF for the model. A client accepts all three forms; a workflow accepts only a stored attachment. */
export type Attachment = FileAttachment | DataAttachment | StoredAttachment

/** A file that the client reads. Its content determines the type. */
interface FileAttachment {
  readonly file: string
}

interface DataAttachment {
  /** The bytes, or their base64. */
  readonly data: Uint8Array | string
  /** The expected type. Data of another type is refused. Default: the type of the data. */
  readonly mediaType?: MediaType
  /** Name of the file. The model sees the name of a PDF. */
  readonly name?: string
}

/** An attachment in the input of a workflow. */
export interface StoredAttachment {
  readonly mediaType: MediaType
  /** The base64 of the bytes, in the value store. */
  readonly value: ExternalValue
  readonly name?: string
}

/**
 * The limits of one message. An API accepts 5 MiB of base64 for an image, and requests of 32 MB, with all earlier
 * messages.
 */
export const attachmentLimits = {
  count: 20,
  imageBytes: 3_932_160,
  totalBytes: 20_971_520,
  nameCharacters: 200,
} as const

/** Images of artifacts and of the results of tools. Every later request has them, too. */
export const shownImages = {
  ofRun: 20,
  /** After one cell, and of the direct calls of one turn. */
  ofTurn: 4,
  /** An API refuses larger images in a request with more than 20 of them. */
  pixels: 2_000,
} as const

export const tooManyImages = `a model sees ${shownImages.ofTurn} images of a turn, and ${shownImages.ofRun} of a run`

/** Returns the type of base64 data; undefined for a type that models do not read. */
export function mediaTypeOf(base64: string): MediaType | undefined {
  return mediaTypes.find((type) => beginnings[type].test(base64.slice(0, 24)))
}

/** Returns why an attachment of this size is refused; undefined when it is accepted. */
export function problemOfSize(mediaType: MediaType, bytes: number): string | undefined {
  const limit = mediaType === 'application/pdf' ? attachmentLimits.totalBytes : attachmentLimits.imageBytes
  return bytes > limit ? `it has ${bytes} bytes; ${mediaType} may have ${limit}` : undefined
}

/** Returns why the attachments of a message are refused together; undefined when they are accepted. */
export function problemOfTotal(bytes: readonly number[]): string | undefined {
  const { count, totalBytes } = attachmentLimits
  if (bytes.length > count) return `a message may have ${count} attachments, not ${bytes.length}`
  const total = bytes.reduce((sum, each) => sum + each, 0)
  return total > totalBytes ? `the attachments have ${total} bytes; a message may have ${totalBytes}` : undefined
}

/**
 * Returns why a workflow refuses attachments; undefined when it accepts them. A message may come from another client.
 */
export function problemOfAttachments(attachments: unknown): string | undefined {
  if (attachments === undefined) return undefined
  if (!Array.isArray(attachments)) return 'the attachments must be a list'
  const sizes: number[] = []
  for (const [position, attachment] of (attachments as readonly unknown[]).entries()) {
    const size = sizeOf(attachment)
    if (typeof size === 'string') return `attachment ${position + 1}: ${size}`
    sizes.push(size)
  }
  return problemOfTotal(sizes)
}

/** Returns the bytes of a stored attachment, or why the value is not one. */
function sizeOf(attachment: unknown): number | string {
  if (typeof attachment !== 'object' || attachment === null) return 'it is not an object'
  const { mediaType, value = null, name } = attachment as Readonly<Record<string, JsonValue>>
  const type = mediaTypes.find((each) => each === mediaType)
  const ref = refOf(value)
  if (!isExternal(value) || typeof ref?.bytes !== 'number') return 'it is not in the value store: a client stores it'
  if (type === undefined) return `the type ${JSON.stringify(mediaType)} is not one of ${mediaTypes.join(', ')}`
  if (name !== undefined && (typeof name !== 'string' || name.length > attachmentLimits.nameCharacters))
    return `the name is not a text of at most ${attachmentLimits.nameCharacters} characters`
  // The stored JSON is base64 between quotes.
  const bytes = Math.max(0, Math.floor((ref.bytes - 2) / 4) * 3 - 2)
  return problemOfSize(type, bytes) ?? bytes
}

/**
 * Returns the blocks of a message of a person. Attachments come before the text, as APIs recommend. A message without a
 * text has no block of text.
 */
export function messageBlocks(text: string, attachments: readonly Attachment[] = []): readonly PendingBlock[] {
  return [...attachments.flatMap(mediaBlock), ...(text === '' ? [] : [{ type: 'text', text } as const])]
}

function mediaBlock(attachment: Attachment): readonly MediaBlock[] {
  // `problemOfAttachments` refuses attachments that are not stored.
  if (!('value' in attachment)) return []
  const { mediaType, value, name } = attachment
  const source = { type: 'base64', media_type: mediaType, data: value } as const
  if (mediaType !== 'application/pdf') return [{ type: 'image', source }]
  return [{ type: 'document', source, ...defined({ title: name }) }]
}
