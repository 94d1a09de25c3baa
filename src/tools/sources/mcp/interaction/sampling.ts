import { z } from 'zod'
import type { Message } from '../../../../common/agent/messages.js'
import type { SampledReply, SamplingRequest } from '../../../../common/calls/sampling.js'
import { mediaTypeOf, problemOfSize } from '../../../../common/conversation/attachments.js'
import { defined } from '../../../../common/defined.js'
import { truncateEnd, utf8Length } from '../../../../common/text/text.js'

const maxMessages = 200
const maxBlocks = 500
const maxTextBytes = 1024 * 1024
const maxImages = 20
const maxStopSequences = 10
const maxStopCharacters = 200

const text = z.string().transform((value) => value.toWellFormed())
const block = z.looseObject({ type: z.string() })

const request = z.object({
  messages: z
    .array(z.object({ role: z.enum(['user', 'assistant']), content: z.union([z.array(block).max(maxBlocks), block]) }))
    .min(1)
    .max(maxMessages),
  systemPrompt: text.optional(),
  maxTokens: z.number().min(1).transform(Math.floor),
  temperature: z.number().min(0).max(2).optional(),
  stopSequences: z
    .array(text.pipe(z.string().min(1).max(maxStopCharacters)))
    .max(maxStopSequences)
    .optional(),
  tools: z.unknown().optional(),
})

const textBlock = z.object({ type: z.literal('text'), text })
const imageBlock = z.object({ type: z.literal('image'), data: z.base64() })

const requestName = 'a request for a reply of a model'

/**
 * Reads the parameters of `sampling/createMessage`. Preferences for models, and the wish to include the context of the
 * client, are left out: the model is that of the run, and a server learns nothing of the run.
 *
 * @throws Error that says why the request is refused
 */
export function readSampling(params: unknown): SamplingRequest {
  const { data, error } = request.safeParse(params)
  if (!data) throw new Error(truncateEnd(`${requestName} is not valid: ${z.prettifyError(error)}`, 500))
  const { systemPrompt, maxTokens, temperature, stopSequences, tools } = data
  if (tools !== undefined) throw new Error(`${requestName} may have no tools`)
  const messages = data.messages.map(({ role, content }): Message => {
    return { role, content: (Array.isArray(content) ? content : [content]).map(readBlock) }
  })
  const blocks = messages.flatMap(({ content }) => [...content])
  const texts = blocks.flatMap((each) => ('text' in each && typeof each.text === 'string' ? [each.text] : []))
  const bytes = [systemPrompt ?? '', ...texts].reduce((sum, each) => sum + utf8Length(each), 0)
  if (bytes > maxTextBytes) throw new Error(`${requestName} may have ${maxTextBytes} bytes of text`)
  if (blocks.length - texts.length > maxImages) throw new Error(`${requestName} may have ${maxImages} images`)
  return { messages, maxTokens, ...defined({ system: systemPrompt, temperature, stopSequences }) }
}

function readBlock(content: z.output<typeof block>) {
  const asText = textBlock.safeParse(content).data
  if (asText) return asText
  const data = imageBlock.safeParse(content).data?.data
  const mediaType = data === undefined ? undefined : mediaTypeOf(data)
  if (data === undefined || mediaType === undefined || mediaType === 'application/pdf')
    throw new Error(`${requestName} may have texts, and images of type PNG, JPEG, GIF and WebP`)
  const problem = problemOfSize(mediaType, Math.floor((data.length * 3) / 4))
  if (problem !== undefined) throw new Error(`an image is too large: ${problem}`)
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data } } as const
}

/** The reply in the form of MCP. */
export function toSamplingResult({ text: reply, model, stopReason }: SampledReply) {
  const content = { type: 'text' as const, text: reply }
  return { role: 'assistant' as const, content, model, stopReason: stopReasons[stopReason] ?? stopReason }
}

const stopReasons: Readonly<Record<string, string>> = {
  end_turn: 'endTurn',
  stop_sequence: 'stopSequence',
  max_tokens: 'maxTokens',
}
