import { readFile, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { LineCounter, parseDocument } from 'yaml'
import { messageOf } from '../../../../common/errors.js'
import { decodeText } from '../../../../common/text/decode-text.js'
import { isJsonObject, type JsonObject } from '../../../../common/json/json.js'
import { interruptAfter } from '../../../validation/time-limit.js'
import { bundle } from './bundle.js'
import { acceptedEncodings } from '../../../network/read-response.js'
import { sendRequest } from '../../../network/send-request.js'

/** Bytes of all files of a document: GitHub's has 13 MB. */
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

/**
 * Reads a document, and the files that it refers to: those of its folder or below it, or those of the origin of its URL.
 *
 * @returns also the problems of files that can't be read
 * @throws Error for a document that can't be read, is too large, or is not a JSON object
 */
export async function loadDocument({
  document,
  folder,
  headers,
  signal,
}: LoadOptions): Promise<LoadedDocument & { readonly problems: readonly string[] }> {
  const budget = { bytes: maxBytes }
  const isRemote = /^https?:\/\//i.test(document)
  const limited = AbortSignal.any([signal, AbortSignal.timeout(fetchMs)])
  const fetchOne = (url: URL) => fetchDocument(url, headers, budget, limited)
  const first = isRemote
    ? await fetchOne(new URL(document))
    : await readDocument(path.resolve(folder, document), budget)
  const problems = await bundle(first, (url) => {
    if (!isRemote) return readBeside(url, first.url, budget)
    if (url.origin !== first.url.origin) throw new Error(`it is not of ${first.url.origin}`)
    return fetchOne(url)
  })
  return { ...first, problems }
}

/** The bytes that all files of a document may still have. */
interface Budget {
  bytes: number
}

async function readDocument(file: string, budget: Budget): Promise<LoadedDocument> {
  const { size } = await stat(file)
  if (size > budget.bytes) throw tooLarge()
  budget.bytes -= size
  return { root: parse(await readFile(file)), url: pathToFileURL(file) }
}

/** A link does not lead out of the folder either. */
async function readBeside(url: URL, document: URL, budget: Budget): Promise<LoadedDocument> {
  if (url.protocol !== 'file:') throw new Error('a document in a folder refers only to files')
  const [folder, file] = await Promise.all([
    realpath(path.dirname(fileURLToPath(document))),
    realpath(fileURLToPath(url)),
  ])
  if (!file.startsWith(`${folder}${path.sep}`)) throw new Error('it is outside of the folder of the document')
  return readDocument(file, budget).then(({ root }) => ({ root, url }))
}

async function fetchDocument(
  first: URL,
  headers: Readonly<Record<string, string>>,
  budget: Budget,
  signal: AbortSignal,
): Promise<LoadedDocument> {
  let url = first
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
        signal,
      },
      (status) => (status === 200 ? budget.bytes : 0),
    )
    const { status, body, isCut } = response
    const target = status >= 300 && status < 400 ? response.headers['location'] : undefined
    if (target === undefined && status !== 200) throw new Error(`${url.origin} answered with HTTP status ${status}`)
    if (target === undefined && isCut) throw tooLarge()
    budget.bytes -= body.length
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
  const parsed: unknown = /^\s*\{/.test(text) ? parseJson(text) : interruptAfter(() => parseYaml(text), parseMs)
  if (isJsonObject(parsed)) return parsed
  throw new Error('it is neither a JSON object nor a YAML map')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (jsonError) {
    // A flow map of YAML begins as an object of JSON does.
    try {
      return interruptAfter(() => parseYaml(text), parseMs)
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
