import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Payload } from '@temporalio/common'
import { z } from 'zod'
import { PtcError } from '../common/errors.js'
import { countStructuralBytes } from '../common/json/structural-bytes.js'
import { decodeText } from '../common/text/decode-text.js'
import { hasToken, listen, readBody } from '../http/index.js'
import type { KeyRing } from '../values/encryption/key-ring.js'
import { EncryptionCodec } from '../values/encryption/payload-codec.js'
import type { Values } from '../values/values.js'
import { decodePayload } from './decode-payload.js'

export interface CodecServerOptions {
  /** The owner of the values closes them. */
  readonly values: Values
  /** Keys that decrypt payloads, and encrypt those of /encode. Undefined: payloads are not encrypted. */
  readonly keys?: KeyRing | undefined
  /** Default 127.0.0.1. */
  readonly host?: string | undefined
  /** 0: any free port. */
  readonly port: number
  /** Origins of web pages that may send requests, such as `http://localhost:8233`. */
  readonly origins: readonly string[]
  /**
   * Token that every request must have: `Authorization: Bearer …`. Undefined: requests need none, and the server
   * listens on the loopback interface only.
   */
  readonly token?: string | undefined
  /** Maximum bytes of a decoded payload. */
  readonly maxBytes?: number
}

export interface CodecServer {
  readonly url: string
  /** Allows the pages of another origin. */
  allowOrigin(origin: string): void
  /** Idempotent. */
  close(): Promise<void>
}

export const defaultMaxBytes = 1024 * 1024

/** A history page of the UI has up to 4 MB of payloads. */
const maxRequestBytes = 8 * 1024 * 1024
/** What a request has outside of strings: parsing and walking it blocks all others. A payload has about 20 bytes. */
const structuralLimit = { bytes: 200_000, depth: 20 }
const maxPayloads = 10_000
/** The same of the JSON within its payloads, together: those after it are not searched for references. */
const maxSearchedBytes = 400_000
const requestTimeoutMs = 30_000
/** Bytes that a request may load from the value store. A single value of `maxBytes` always fits. */
const maxLoadedBytes = 16 * 1024 * 1024
const maxLoadedValues = 1_000

/**
 * Starts a codec server.
 *
 * @throws PtcError CONFIG_INVALID when it would listen beyond this machine without a token, or its port is taken
 */
export async function startCodecServer(options: CodecServerOptions): Promise<CodecServer> {
  const origins = new Set(options.origins)
  const codec = options.keys && new EncryptionCodec(options.keys)
  const server = createServer((request, response) => {
    answer(request, response, { ...options, codec, origins }).catch((thrown: unknown) => {
      const isBody = PtcError.isInstance(thrown) && thrown.code === 'RUN_INPUT_INVALID'
      if (isBody && !response.headersSent) end(response, 400, thrown.message)
      else response.destroy()
    })
  })
  server.requestTimeout = requestTimeoutMs
  const { host = '127.0.0.1', port, token } = options
  const tokenHint = 'Set PTC_CODEC_TOKEN: the server shows all values of the store. Or leave out --host.'
  const listening = await listen(server, { name: 'the codec server', host, port, token, tokenHint })
  return { ...listening, allowOrigin: (origin) => void origins.add(origin) }
}

interface Access extends Omit<CodecServerOptions, 'origins' | 'keys'> {
  readonly codec: EncryptionCodec | undefined
  readonly origins: ReadonlySet<string>
}

async function answer(request: IncomingMessage, response: ServerResponse, access: Access): Promise<void> {
  const { origin } = request.headers
  response.setHeader('Vary', 'Origin')
  response.setHeader('Cache-Control', 'no-store')
  if (origin !== undefined) {
    if (!access.origins.has(origin)) return end(response, 403, `origin ${origin} is not allowed`)
    response.setHeader('Access-Control-Allow-Origin', origin)
    // For the cookie of a proxy in front of this server.
    response.setHeader('Access-Control-Allow-Credentials', 'true')
  }
  if (request.method === 'OPTIONS') return allowRequest(response)
  if (!hasToken(request, access.token)) {
    response.setHeader('WWW-Authenticate', 'Bearer')
    return end(response, 401, 'a token is needed')
  }
  const { pathname } = new URL(request.url ?? '/', 'http://codec')
  const operation = /\/(encode|decode)$/.exec(pathname)?.[1]
  if (operation === undefined) return end(response, 404, 'there are /encode and /decode')
  if (request.method !== 'POST') return end(response, 405, 'only POST is allowed')
  const body = await readBody(request, maxRequestBytes)
  if (body === undefined) return end(response, 413, `a request has at most ${maxRequestBytes} bytes`)
  countStructuralBytes(body, structuralLimit, (problem) => new PtcError('RUN_INPUT_INVALID', `the body ${problem}`))
  const payloads = parsePayloads(decodeText(body, 'the body', 'RUN_INPUT_INVALID'))
  if (payloads === undefined) return end(response, 400, 'the body is not {"payloads": […]}')
  const result =
    operation === 'encode' ? await encodeAll(payloads, access) : await decodeAll(payloads, response, access)
  response.setHeader('Content-Type', 'application/json')
  response.end(JSON.stringify({ payloads: result.map(toJson) }))
}

/** Small payloads need no reference, and larger ones come from a worker or a client. */
async function encodeAll(payloads: readonly Payload[], { codec }: Access): Promise<readonly Payload[]> {
  return codec === undefined ? payloads : codec.encode(payloads)
}

async function decodeAll(
  payloads: readonly Payload[],
  response: ServerResponse,
  { values, codec, maxBytes = defaultMaxBytes }: Access,
): Promise<Payload[]> {
  const controller = new AbortController()
  response.once('close', () => controller.abort())
  const { signal } = controller
  const allowance = {
    bytes: Math.max(maxBytes, maxLoadedBytes),
    values: maxLoadedValues,
    searchedBytes: maxSearchedBytes,
  }
  const decoded: Payload[] = []
  for (const payload of payloads)
    decoded.push(await decodePayload(payload, { values, codec, maxBytes, allowance, signal }))
  return decoded
}

function allowRequest(response: ServerResponse): void {
  response.setHeader('Access-Control-Allow-Methods', 'POST, OPTIONS')
  response.setHeader('Access-Control-Allow-Headers', 'Authorization, Authorization-Extras, Content-Type, X-Namespace')
  response.setHeader('Access-Control-Max-Age', '600')
  response.writeHead(204).end()
}

function end(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' }).end(`${message}\n`)
}

const base64 = z.string().transform((text) => Buffer.from(text, 'base64'))
const body = z.object({
  // Their number is checked before they are.
  payloads: z
    .array(z.unknown())
    .max(maxPayloads)
    .pipe(
      z.array(
        z
          .object({ metadata: z.record(z.string(), base64).optional(), data: base64.optional() })
          // Fields of later versions stay.
          .loose(),
      ),
    ),
})

function parsePayloads(text: string): readonly Payload[] | undefined {
  try {
    return body.safeParse(JSON.parse(text)).data?.payloads as readonly Payload[] | undefined
  } catch {
    return undefined
  }
}

function toJson({ metadata, data, ...rest }: Payload) {
  const encode = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
  return {
    ...rest,
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, encode(value)])),
    ...(data && { data: encode(data) }),
  }
}
