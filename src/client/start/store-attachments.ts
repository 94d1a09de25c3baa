/*
 * Owns: images and PDFs of a client, from reading and checking them until they are in the value store.
 *
 * Boundary: the value store of the client's data converter. No request to Temporal.
 *
 * Invariants:
 * 1. Everything is checked before anything is stored, and everything is stored before a run or a message refers to it.
 * 2. Temporal gets references only: no bytes, and no preview of them.
 */

import type { Client } from '@temporalio/client'
import { defined } from '../../common/defined.js'
import { type ExternalValue, externalValue } from '../../common/json/external-value.js'
import type { JsonObject } from '../../common/json/json.js'
import { type Attachment, mediaTypeOf, type StoredAttachment } from '../../common/conversation/attachments.js'
import type { ProviderMessage } from '../../common/conversation/conversation.js'
import type { AgentInput, CallInput, ProgramInput } from '../../common/run/runs.js'
import { storeOf } from '../../values/payload-storage.js'
import { Values } from '../../values/values.js'
import { clientValues } from '../files/client-values.js'
import { storeUploads } from '../files/store-uploads.js'
import { type ReadAttachment, readAttachments } from './read-attachments.js'

/**
 * Stores the attachments of a message.
 *
 * @throws PtcError RUN_INPUT_INVALID, VALUE_STORE_UNKNOWN, and others of the store
 */
export async function storeAttachments(
  client: Client,
  attachments: readonly Attachment[] | undefined = [],
): Promise<readonly StoredAttachment[]> {
  const found = await readAttachments(attachments)
  if (found.length === 0) return []
  const values = await clientValues(client, 'attachments')
  const stored: StoredAttachment[] = []
  for (const attachment of found) stored.push('value' in attachment ? attachment : await put(values, attachment))
  return stored
}

/**
 * Stores the images and PDFs in messages, and replaces them by references, so that the messages in a workflow are
 * small. Data that does not have the given type stays in its place, and the provider refuses it. Without a value store,
 * all data stays.
 */
export async function storeMedia(
  { options: { loadedDataConverter } }: Client,
  messages: readonly ProviderMessage[],
): Promise<readonly ProviderMessage[]> {
  if (!messages.some(({ content }) => typeof content !== 'string' && content.some((block) => mediaDataOf(block))))
    return messages
  const store = await storeOf(loadedDataConverter.externalStorage)
  if (store === undefined) return messages
  const values = new Values({ store })
  const stored: ProviderMessage[] = []
  for (const { role, content } of messages) {
    const blocks: JsonObject[] = []
    for (const block of typeof content === 'string' ? [] : content) {
      const data = mediaDataOf(block)
      const source =
        data === undefined ? undefined : { ...(block['source'] as JsonObject), data: await putText(values, data) }
      blocks.push(source ? { ...block, source } : block)
    }
    stored.push({ role, content: typeof content === 'string' ? content : blocks })
  }
  return stored
}

/** Returns the base64 data of an image or a PDF; undefined for other blocks, and for data of another type. */
function mediaDataOf({ type, source }: JsonObject): string | undefined {
  if ((type !== 'image' && type !== 'document') || typeof source !== 'object' || source === null) return undefined
  const { type: kind, data, media_type: mediaType } = source as JsonObject
  return kind === 'base64' && typeof data === 'string' && mediaTypeOf(data) === mediaType ? data : undefined
}

/** Returns the input of a run with references to its attachments and files. */
export async function withStoredData<Input extends AgentInput | CallInput | ProgramInput>(
  client: Client,
  input: Input,
): Promise<Input> {
  return {
    ...input,
    ...('attachments' in input &&
      input.attachments && { attachments: await storeAttachments(client, input.attachments) }),
    ...('files' in input && input.files && { files: await storeUploads(client, input.files) }),
  }
}

async function put(values: Values, { mediaType, base64, name }: ReadAttachment): Promise<StoredAttachment> {
  return { mediaType, value: await putText(values, base64), ...defined({ name }) }
}

/** @param base64 contains no character that JSON escapes */
async function putText(values: Values, base64: string): Promise<ExternalValue> {
  return externalValue(await values.storeText(['"', base64, '"'], new AbortController().signal))
}
