import type { IncomingMessage } from 'node:http'
import { ApiError, invalidRequest } from './api-error.js'
import type { z } from 'zod'
import { schemaMessage } from './schema-messages.js'

/** Maximum size of a standard request. */
const maximumBytes = 32 * 1024 * 1024

/**
 * Reads the body. A body over the limit is read to its end and dropped, so that the client sees the response.
 *
 * @throws ApiError request_too_large
 */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= maximumBytes) chunks.push(chunk)
  }
  if (bytes > maximumBytes) throw new ApiError('request_too_large', 'Request exceeds the maximum size')
  return Buffer.concat(chunks).toString('utf8')
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalidRequest(
      `The request body is not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
    )
  }
}

/** @throws ApiError with the texts of the real API */
export function parseAs<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(body)
  if (!parsed.success) throw invalidRequest(schemaMessage(parsed.error.issues, body))
  return parsed.data
}
