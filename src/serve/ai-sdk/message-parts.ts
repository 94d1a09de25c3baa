import { z } from 'zod'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { type Attachment, mediaTypes } from '../../common/conversation/attachments.js'
import { describeProblems, shortArray } from '../router.js'

const textPart = z.object({ type: z.literal('text'), text: z.string() })

/** A file that a person has added: `useChat` sends it as a data URL. */
const filePart = z.object({
  type: z.literal('file'),
  mediaType: z.enum(mediaTypes),
  filename: z.string().optional(),
  url: z.string().regex(/^data:[^,]*;base64,/, 'must be a data URL in base64: the server fetches nothing'),
})

const userPart = z.discriminatedUnion('type', [textPart, filePart])

/** Each text of a message may have its own part. */
const maxParts = 1_000

/**
 * The text and the files of a message of the user.
 *
 * @throws PtcError RUN_INPUT_INVALID for a part of another type
 */
export function messageOfParts(parts: readonly unknown[]): {
  readonly text: string
  readonly attachments: readonly Attachment[]
} {
  const { error, data = [] } = shortArray(userPart, maxParts).safeParse(parts)
  if (error) {
    const problem = describeProblems(error)
    throw new PtcError('RUN_INPUT_INVALID', `a message may have texts, images and PDFs:\n${problem}`)
  }
  const texts = data.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const attachments = data.flatMap((part): readonly Attachment[] => {
    if (part.type === 'text') return []
    const { mediaType, filename: name, url } = part
    return [{ data: url.slice(url.indexOf(',') + 1), mediaType, ...defined({ name }) }]
  })
  return { text: texts.join('\n'), attachments }
}
