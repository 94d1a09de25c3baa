import { PtcError } from '../common/errors.js'
import { type ExternalValue, isExternal } from '../common/json/external-value.js'
import { isJsonObject, type JsonObject } from '../common/json/json.js'
import { mediaTypeOf } from '../common/conversation/attachments.js'
import type { Values } from './values.js'

interface MessageLike {
  /** A text or content blocks. */
  readonly content: string | readonly object[]
}

/**
 * Returns the messages with the data of their images and documents. The stored conversation has references to the data.
 *
 * @throws PtcError RUN_INPUT_INVALID for a reference to something else; VALUE_MISSING and others of the store
 */
export async function loadMedia<Message extends MessageLike>(
  values: Pick<Values, 'load'>,
  messages: readonly Message[],
  signal: AbortSignal,
): Promise<Message[]> {
  return Promise.all(
    messages.map(async (message) => {
      const { content } = message
      if (typeof content === 'string' || content.every((block) => referenceOf(block) === undefined)) return message
      return { ...message, content: await Promise.all(content.map((block) => loadBlock(values, block, signal))) }
    }),
  )
}

interface MediaReference {
  readonly source: JsonObject
  readonly data: ExternalValue
}

function referenceOf(block: object): MediaReference | undefined {
  // All content blocks are JSON objects.
  const { type, source } = block as JsonObject
  if ((type !== 'image' && type !== 'document') || !isJsonObject(source)) return undefined
  const { data = null } = source
  return isExternal(data) ? { source, data } : undefined
}

async function loadBlock(values: Pick<Values, 'load'>, block: object, signal: AbortSignal): Promise<object> {
  const reference = referenceOf(block)
  if (reference === undefined) return block
  const { source, data } = reference
  const loaded = await values.load(data, 'an attachment of a message', signal)
  // Another client may refer to any value, so this check returns only images and PDFs from the store.
  if (typeof loaded === 'string' && mediaTypeOf(loaded) === source['media_type']) {
    return { ...block, source: { ...source, data: loaded } }
  }
  throw new PtcError('RUN_INPUT_INVALID', `an attachment is not of type ${JSON.stringify(source['media_type'])}`)
}
