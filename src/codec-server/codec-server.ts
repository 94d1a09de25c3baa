import type { ServerResponse } from 'node:http'
import type { Payload } from '@temporalio/common'
import { z } from 'zod'
import { PtcError } from '../common/errors.js'
import { checkToken, HttpError, type HttpExchange, type HttpServer, readJson, startHttpServer } from '../http/index.js'
import type { KeyRing } from '../values/encryption/key-ring.js'
import { EncryptionCodec } from '../values/encryption/payload-codec.js'
import type { Values } from '../values/values.js'
import { type DecodeOptions, readablePayload } from './decode-payload.js'

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

export interface CodecServer extends HttpServer {
  /** Allows the pages of another origin. */
  allowOrigin(origin: string): void
}

const defaultMaxBytes = 1024 * 1024

/** A history page of the UI has up to 4 MB of payloads. A payload has about 20 bytes outside of strings. */
const bodyLimits = { bytes: 8 * 1024 * 1024, structuralBytes: 200_000, depth: 20 }
const maxPayloads = 10_000
/** The same of the JSON within its payloads, together: those after it are not searched for references. */
const maxSearchedBytes = 400_000
/** Bytes that a request may load from the value store. A single value of `maxBytes` always fits. */
const maxLoadedBytes = 16 * 1024 * 1024
const maxLoadedValues = 1_000

/**
 * Starts a codec server.
 *
 * @throws PtcError CONFIG_INVALID when it would listen beyond this machine without a token, or its port is taken
 */
export async function startCodecServer(options: CodecServerOptions): Promise<CodecServer> {
  const { values, keys, token, maxBytes = defaultMaxBytes } = options
  const origins = new Set(options.origins)
  const codec = keys && new EncryptionCodec(keys)
  const server = await startHttpServer({
    ...options,
    name: 'the codec server',
    token,
    tokenHint: 'Set PTC_CODEC_TOKEN: the server shows all values of the store. Or leave out --host.',
    origins,
    respond: (exchange) => respond(exchange, token, { values, codec, maxBytes }),
    respondToError(thrown, _request, response) {
      const isBody = PtcError.isInstance(thrown) && thrown.code === 'RUN_INPUT_INVALID'
      if (isBody) end(response, 400, thrown.message)
      else if (thrown instanceof HttpError) end(response, thrown.status, thrown.message)
      else response.destroy()
    },
  })
  return { ...server, allowOrigin: (origin) => void origins.add(origin) }
}

type Decoding = Pick<DecodeOptions, 'values' | 'codec' | 'maxBytes'>

async function respond(
  { request, response, url, signal }: HttpExchange,
  token: string | undefined,
  decoding: Decoding,
): Promise<void> {
  checkToken(request, response, token)
  const operation = /\/(encode|decode)$/.exec(url.pathname)?.[1]
  if (operation === undefined) throw new HttpError('NOT_FOUND', 'this server has only the paths /encode and /decode')
  if (request.method !== 'POST') throw new HttpError('METHOD_NOT_ALLOWED', 'only POST is allowed')
  const { data } = body.safeParse(await readJson(request, bodyLimits))
  if (!data) throw new HttpError('BAD_REQUEST', 'the body is not {"payloads": […]}')
  const payloads = data.payloads as readonly Payload[]
  // Small payloads need no reference, and larger ones come from a worker or a client.
  const encode = () => decoding.codec?.encode(payloads) ?? payloads
  const result = operation === 'encode' ? await encode() : await decodeAll(payloads, signal, decoding)
  response.setHeader('Content-Type', 'application/json')
  response.end(JSON.stringify({ payloads: result.map(toJson) }))
}

async function decodeAll(payloads: readonly Payload[], signal: AbortSignal, decoding: Decoding): Promise<Payload[]> {
  const allowance = {
    bytes: Math.max(decoding.maxBytes, maxLoadedBytes),
    values: maxLoadedValues,
    searchedBytes: maxSearchedBytes,
  }
  const decoded: Payload[] = []
  for (const payload of payloads) decoded.push(await readablePayload(payload, { ...decoding, allowance, signal }))
  return decoded
}

function end(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${message}\n`)
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

function toJson({ metadata, data, ...rest }: Payload) {
  const encode = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
  return {
    ...rest,
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, encode(value)])),
    ...(data && { data: encode(data) }),
  }
}
