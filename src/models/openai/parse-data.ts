import { z } from 'zod'
import { PtcError } from '../../common/errors.js'

/**
 * Parses the data of one event.
 *
 * @throws PtcError MODEL_STREAM for data of another form
 */
export function parseData<Schema extends z.ZodType>(schema: Schema, data: string): z.output<Schema> {
  const parsed = schema.safeParse(parseJson(data))
  if (!parsed.success) throw streamError(z.prettifyError(parsed.error).replaceAll(/\s+/g, ' '), data)
  return parsed.data
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    throw streamError('invalid JSON', data)
  }
}

function streamError(what: string, data: string): PtcError {
  const message = `The model's reply can't be read: ${what} in ${JSON.stringify(data.slice(0, 80))}.`
  const hint = 'Usually passes; if not, something between here and the API changes its replies.'
  return new PtcError('MODEL_STREAM', message, { hint })
}
