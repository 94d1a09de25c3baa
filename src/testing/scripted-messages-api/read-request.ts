import type { IncomingMessage } from 'node:http'
import { ApiRefusal, invalid } from './refusal.js'
import type { z } from 'zod'
import { schemaMessage } from './schema-messages.js'

/** The API's limit for a standard request. */
const maximumBytes = 32 * 1024 * 1024

/**
 * The whole body. A body over the limit is read to its end, but not kept, so that the client gets to see the answer.
 *
 * @throws ApiRefusal request_too_large
 */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= maximumBytes) chunks.push(chunk)
  }
  if (bytes > maximumBytes) throw new ApiRefusal('request_too_large', 'Request exceeds the maximum size')
  return Buffer.concat(chunks).toString('utf8')
}

/** @throws ApiRefusal */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalid(`The request body is not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

/** @throws ApiRefusal in the words of the real API */
export function parseAs<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(body)
  if (!parsed.success) throw invalid(schemaMessage(parsed.error.issues, body))
  return parsed.data
}
