import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { takeStart } from '../../common/text/text.js'

/**
 * Parses the data of one server-sent event.
 *
 * @throws PtcError MODEL_STREAM for data of another form
 */
export function parseEventData<Schema extends z.ZodType>(schema: Schema, data: string): z.output<Schema> {
  return parseEvent(schema, parseEventJson(data), data)
}

/**
 * Parses an event whose JSON is parsed already.
 *
 * @param data the same as text, for the error
 * @throws PtcError MODEL_STREAM for an event of another form
 */
export function parseEvent<Schema extends z.ZodType>(schema: Schema, value: unknown, data: string): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw streamError(z.prettifyError(parsed.error).replaceAll(/\s+/g, ' '), data)
  return parsed.data
}

/** @throws PtcError MODEL_STREAM */
export function parseEventJson(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    throw streamError('invalid JSON', data)
  }
}

/** Data that are no event of the API. */
export function streamError(what: string, data: string): PtcError {
  const message = `The model's reply can't be read: ${what} in ${JSON.stringify(takeStart(data, 80))}.`
  const hint = 'Usually passes; if not, something between here and the API changes its replies.'
  return new PtcError('MODEL_STREAM', message, { hint })
}
