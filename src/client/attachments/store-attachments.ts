/*
 * `src/client/attachments` owns what a client does with images and PDFs: reading and checking them, and putting them
 * into the value store.
 *
 * Boundary: the value store of the client's data converter. No request to Temporal.
 *
 * Invariants:
 * 1. Everything is checked before anything is stored, and everything is stored before a run or a message refers to it.
 * 2. Temporal gets references only: no bytes, and no preview of them.
 */

import type { Client } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import { externalValue } from '../../common/json/external-value.js'
import type { Attachment, StoredAttachment } from '../../common/runs/attachments.js'
import type { AgentInput, ProgramInput } from '../../common/runs/runs.js'
import { storeOf } from '../../values/payload-storage.js'
import { Values } from '../../values/values.js'
import { dataConverterHint } from '../start/start-options.js'
import { type ReadAttachment, readAttachments } from './read-attachments.js'

/**
 * Stores the attachments of a message.
 *
 * @throws PtcError RUN_INPUT_INVALID, VALUE_STORE_UNKNOWN, and others of the store
 */
export async function storeAttachments(
  { options: { loadedDataConverter } }: Client,
  attachments: readonly Attachment[] | undefined = [],
): Promise<readonly StoredAttachment[]> {
  const found = await readAttachments(attachments)
  if (found.length === 0) return []
  const store = await storeOf(loadedDataConverter.externalStorage)
  if (store === undefined) {
    throw new PtcError('VALUE_STORE_UNKNOWN', 'attachments need the value store', { hint: dataConverterHint })
  }
  // The client of Temporal owns the store: it is not closed here.
  const values = new Values({ store })
  const stored: StoredAttachment[] = []
  for (const attachment of found) stored.push('value' in attachment ? attachment : await put(values, attachment))
  return stored
}

/** The input of a run, which refers to its attachments. */
export async function withStoredAttachments<Input extends AgentInput | ProgramInput>(
  client: Client,
  input: Input,
): Promise<Input> {
  if (!('attachments' in input) || input.attachments === undefined) return input
  return { ...input, attachments: await storeAttachments(client, input.attachments) }
}

async function put(values: Values, { mediaType, base64, name }: ReadAttachment): Promise<StoredAttachment> {
  const ref = await values.storeText(['"', base64, '"'], new AbortController().signal)
  return { mediaType, value: externalValue(ref), ...(name !== undefined && { name }) }
}
