import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { LineCounter, parseDocument } from 'yaml'
import { messageOf } from '../../../../common/errors.js'
import { decodeText } from '../../../../common/text/decode-text.js'
import { isJsonObject, type JsonObject } from '../../../../common/json/json.js'
import { withTimeLimit } from '../../../validation/time-limit.js'
import { acceptedEncodings, sendRequest } from '../../../network/send-request.js'

/** Bytes of a document: GitHub's has 13 MB. */
const maxBytes = 32 * 1024 * 1024
const fetchMs = 30_000
/** Milliseconds of processor time. */
const parseMs = 20_000
const maxRedirects = 5
/** YAML may repeat a part by a reference to it. */
const maxAliases = 1_000

export interface LoadedDocument {
  readonly root: JsonObject
  /** Base of relative URLs of servers. */
  readonly url: URL
}

interface LoadOptions {
  /** A URL, or the path of a file. */
  readonly document: string
  /** Base of a relative path. */
  readonly folder: string
  /** For a URL. */
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** @throws Error for a document that can't be read, is too large, or is not a JSON object */
export async function loadDocument({ document, folder, headers, signal }: LoadOptions): Promise<LoadedDocument> {
  if (!/^https?:\/\//i.test(document)) {
    const file = path.resolve(folder, document)
    const { size } = await stat(file)
    if (size > maxBytes) throw tooLarge()
    return { root: parse(await readFile(file)), url: pathToFileURL(file) }
  }
  const limited = AbortSignal.any([signal, AbortSignal.timeout(fetchMs)])
  let url = new URL(document)
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const response = await sendRequest(
      {
        method: 'GET',
        url,
        headers: {
          accept: 'application/json, application/yaml, */*',
          'accept-encoding': acceptedEncodings,
          ...headers,
        },
        isConfigured: true,
        isRepeatable: true,
        signal: limited,
      },
      (status) => (status === 200 ? maxBytes : 0),
    )
    const { status, body, isCut } = response
    const target = status >= 300 && status < 400 ? response.headers['location'] : undefined
    if (target === undefined && status !== 200) throw new Error(`${url.origin} answered with HTTP status ${status}`)
    if (target === undefined && isCut) throw tooLarge()
    if (target === undefined) return { root: parse(body), url }
    const next = URL.canParse(target, url.href) ? new URL(target, url) : undefined
    if (next?.origin !== url.origin)
      throw new Error(`${url.origin} redirects to another place: ${(next?.origin ?? target).slice(0, 200)}`)
    url = next
  }
  throw new Error(`${url.origin} redirects more than ${maxRedirects} times`)
}

function tooLarge(): Error {
  return new Error(`it has more than ${maxBytes} bytes`)
}

function parse(bytes: Uint8Array): JsonObject {
  const text = decodeText(bytes, 'it', 'CONFIG_INVALID')
  const parsed: unknown = /^\s*\{/.test(text) ? parseJson(text) : withTimeLimit(() => parseYaml(text), parseMs)
  if (isJsonObject(parsed)) return parsed
  throw new Error('it is neither a JSON object nor a YAML map')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (jsonError) {
    // A flow map of YAML begins as an object of JSON does.
    try {
      return withTimeLimit(() => parseYaml(text), parseMs)
    } catch {
      throw new Error(`it is not JSON: ${messageOf(jsonError).slice(0, 200)}`)
    }
  }
}

function parseYaml(text: string): unknown {
  const lineCounter = new LineCounter()
  // Dates stay texts.
  const document = parseDocument(text, { lineCounter, schema: 'core', merge: true, prettyErrors: false })
  const [error] = document.errors
  if (error) {
    const { line } = lineCounter.linePos(error.pos[0])
    throw new Error(`it is not YAML: line ${line}: ${error.message.slice(0, 200)}`)
  }
  // Through JSON: NaN, maps and shared parts become what JSON has.
  return JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: maxAliases, mapAsMap: false }))) as unknown
}
