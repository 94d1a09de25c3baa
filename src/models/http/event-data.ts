import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { takeStart } from '../../common/text/text.js'
import { invalidReply } from '../reply/invalid-reply.js'

/**
 * The values of server-sent events with JSON as data. Invalid JSON ends the reply. When no event follows it, the
 * connection was cut, and the reader notices the missing end.
 *
 * @throws PtcError MODEL_REPLY_INVALID when another event follows
 */
export async function* jsonEvents(events: AsyncIterable<string>): AsyncGenerator<unknown, void, undefined> {
  let broken: PtcError | undefined
  for await (const data of events) {
    if (broken) throw broken
    if (data.trim() === '') continue
    let value: unknown
    try {
      value = JSON.parse(data)
    } catch {
      // Some servers also end streams of Anthropic's API with this data.
      if (data.trim() === streamEnd) yield streamEnd
      else broken = unreadable('invalid JSON', data)
      continue
    }
    yield value
  }
}

/** The data of the last event of a stream of chat completions. */
export const streamEnd = '[DONE]'

/**
 * Parses the value of an event.
 *
 * @throws PtcError MODEL_REPLY_INVALID for an event of another form
 */
export function parseEvent<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw unreadable(z.prettifyError(parsed.error).replaceAll(/\s+/g, ' '), JSON.stringify(value))
  return parsed.data
}

function unreadable(what: string, data: string): PtcError {
  return invalidReply(`${what} in ${JSON.stringify(takeStart(data, 80))}`)
}

/** A text of an event; undefined for other values. */
export const eventText = z.unknown().transform((value) => (typeof value === 'string' ? value : undefined))

/** The number of a block, also as a text; undefined for what is none. */
export const eventIndex = z.unknown().transform((value) => {
  const index = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 ? index : undefined
})

/** The error of a response that is not a stream of events, such as the page of a proxy. */
export function noEventStream(contentType: string, hint: string): PtcError {
  const message = `The model API answered with ${contentType} in place of an event stream.`
  return new PtcError('MODEL_REPLY_INVALID', message, { hint })
}
