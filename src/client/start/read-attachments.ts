import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { defined } from '../../common/defined.js'
import { messageOf, PtcError } from '../../common/errors.js'
import {
  type Attachment,
  attachmentLimits,
  type MediaType,
  mediaTypeOf,
  mediaTypes,
  problemOfAttachments,
  problemOfSize,
  problemOfTotal,
  type StoredAttachment,
} from '../../common/conversation/attachments.js'
import { hasErrorCode } from '../../common/system-error.js'
import { takeStart } from '../../common/text/text.js'

/** An attachment that a model may read. */
export interface ReadAttachment {
  readonly mediaType: MediaType
  readonly base64: string
  readonly bytes: number
  readonly name?: string
}

/**
 * Reads and checks attachments. Stored attachments are returned unchanged.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export async function readAttachments(
  attachments: readonly Attachment[],
): Promise<readonly (ReadAttachment | StoredAttachment)[]> {
  if (!Array.isArray(attachments)) throw invalid('the attachments are not an array')
  // This is checked before a file is read.
  if (attachments.length > attachmentLimits.count) throw invalid(problemOfTotal(attachments.map(() => 0)))
  const found = await Promise.all(attachments.map(async (each, position) => readOne(each, position + 1)))
  const problem = problemOfTotal(found.map((each) => ('bytes' in each ? each.bytes : 0)))
  if (problem !== undefined) throw invalid(problem)
  return found
}

async function readOne(attachment: Attachment, number: number): Promise<ReadAttachment | StoredAttachment> {
  const fail = (problem: string | undefined) => invalid(`attachment ${number}: ${problem ?? ''}`)
  if (typeof attachment !== 'object' || attachment === null) throw fail('it is not an object')
  if ('value' in attachment) {
    const problem = problemOfAttachments([attachment])
    if (problem !== undefined) throw invalid(problem)
    return attachment
  }
  const { bytes, name, expected } =
    'file' in attachment
      ? { bytes: await readBytes(attachment.file, fail), name: basename(attachment.file), expected: undefined }
      : { bytes: toBytes(attachment.data, fail), name: attachment.name, expected: attachment.mediaType }
  const base64 = bytes.toString('base64')
  const mediaType = mediaTypeOf(base64)
  if (mediaType === undefined) throw fail(`it is none of ${mediaTypes.join(', ')}`)
  if (expected !== undefined && expected !== mediaType) throw fail(`it is ${mediaType}, not ${expected}`)
  const problem = problemOfSize(mediaType, bytes.length)
  if (problem !== undefined) throw fail(problem)
  const shortName = name === undefined ? undefined : takeStart(name, attachmentLimits.nameCharacters)
  return { mediaType, base64, bytes: bytes.length, ...defined({ name: shortName }) }
}

async function readBytes(file: string, fail: (problem: string) => PtcError): Promise<Buffer> {
  if (typeof file !== 'string') throw fail('file is not a path')
  try {
    const { size } = await stat(file)
    if (size > attachmentLimits.totalBytes) throw fail(`${file} has ${size} bytes`)
    return await readFile(file)
  } catch (cause) {
    if (PtcError.isInstance(cause)) throw cause
    throw fail(hasErrorCode(cause, 'ENOENT') ? `there is no file ${file}` : `can't read ${file}: ${messageOf(cause)}`)
  }
}

function toBytes(data: Uint8Array | string, fail: (problem: string) => PtcError): Buffer {
  if (typeof data !== 'string') {
    if (!(data instanceof Uint8Array)) throw fail('data is neither bytes nor base64')
    return Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  }
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(data)) throw fail('data is not base64')
  return Buffer.from(data, 'base64')
}

function invalid(problem: string | undefined): PtcError {
  return new PtcError('RUN_INPUT_INVALID', problem ?? '')
}
