import { basename } from 'node:path/posix'
import type { RunFiles } from '../client/index.js'
import { raceWithTimeLimit } from '../common/async/abort.js'
import { PtcError } from '../common/errors.js'
import { fileInfo, findFile, inputFolder, maxFileBytes, outputFolder, type StoredFile } from '../common/files/files.js'
import { checkEncoding, HttpError } from '../http/index.js'
import { requireStarted } from './conversations.js'
import type { Exchange, Reply, Route } from './router.js'
import { maxStallMs, writeTo } from './write-to.js'

/*
 * Files of runs and conversations. The bytes of a file come from code in a sandbox, or from another client: a response
 * is a download, which a browser shows in no page.
 */

/** Returns the files of the run or the conversation of a path. */
type FindFiles = (exchange: Exchange) => Promise<RunFiles>

const ofConversation: FindFiles = async ({ ptc, params: { name = '' } }) => {
  const conversation = ptc.conversation(name)
  await requireStarted(ptc, conversation)
  return conversation.files
}

const ofRun: FindFiles = ({ ptc, params: { id = '' } }) => Promise.resolve(ptc.handle(id).files)

/** Pieces of a download: a slow client must take one within the limit for clients that do not read. */
const pieceBytes = 256 * 1024

async function download(files: RunFiles, exchange: Exchange): Promise<undefined> {
  const { params, response, signal, onError } = exchange
  const path = pathOf(params)
  const file = findFile(await files.list(), path)
  if (!file) throw new PtcError('FILE_NOT_FOUND', `there is no file ${path}`)
  const parts = files.read(file, { signal })
  try {
    // A file that can't be read is an error of the request.
    const first = await parts.next()
    response.writeHead(200, headersOf(file))
    for (let next = first; next.done !== true; next = await parts.next()) await writePart(exchange, next.value)
    response.end()
  } catch (thrown) {
    if (!response.headersSent) throw thrown
    // Without its length, the client would take the response for a whole file.
    response.destroy()
    if (!signal.aborted) onError(thrown)
  } finally {
    await parts.return()
  }
}

async function writePart({ response, signal }: Exchange, part: Uint8Array): Promise<void> {
  for (let start = 0; start < part.length; start += pieceBytes)
    await writeTo(response, part.subarray(start, start + pieceBytes), signal)
}

function headersOf({ path, bytes, mediaType }: StoredFile): Readonly<Record<string, string | number>> {
  // A media type may come from another client.
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(mediaType) ? mediaType : 'application/octet-stream'
  return {
    'Content-Type': type,
    'Content-Length': bytes,
    'Content-Disposition': `attachment; filename*=UTF-8''${encodeName(basename(path))}`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
  }
}

/** Encodes the characters that RFC 8187 does not allow. */
function encodeName(name: string): string {
  return encodeURIComponent(name).replaceAll(/['()*]/g, (each) => `%${each.codePointAt(0)?.toString(16)}`)
}

/** `PUT …/files/PATH`: stores the body, and uploads it to the run. */
async function upload(files: RunFiles, exchange: Exchange): Promise<Reply> {
  const { request, params, signal, allowLongBody } = exchange
  checkEncoding(request)
  const length = Number(request.headers['content-length'] ?? 0)
  if (length > maxFileBytes) throw tooLarge()
  allowLongBody()
  const [stored] = await files.upload([{ path: pathOf(params), content: bodyOf(exchange) }], { signal })
  return { status: 201, body: stored && fileInfo(stored) }
}

async function* bodyOf({ request, signal }: Exchange): AsyncGenerator<Uint8Array, void, undefined> {
  const pieces = request[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>
  let bytes = 0
  for (;;) {
    const { value: piece, done } = await raceWithTimeLimit(signal, maxStallMs, () => pieces.next())
    if (done === true || piece === undefined) return
    bytes += piece.length
    if (bytes > maxFileBytes) throw tooLarge()
    yield piece
  }
}

function tooLarge(): HttpError {
  return new HttpError('BODY_TOO_LARGE', `a file has at most ${maxFileBytes} bytes`)
}

/** The path of a file in a URL has no slash at its beginning. */
function pathOf({ path = '' }: Exchange['params']): string {
  const absolute = `/${path}`
  return [inputFolder, outputFolder].some((folder) => absolute.startsWith(`${folder}/`)) ? absolute : path
}

function routesOf(base: string, find: FindFiles): readonly Route[] {
  const withFiles =
    <Result>(handle: (files: RunFiles, exchange: Exchange) => Promise<Result>) =>
    async (exchange: Exchange) =>
      handle(await find(exchange), exchange)
  return [
    {
      method: 'GET',
      path: `${base}/files`,
      handler: withFiles(async (files) => ({ body: (await files.list()).map(fileInfo) })),
    },
    { method: 'GET', path: `${base}/files/*path`, handler: withFiles(download) },
    { method: 'PUT', path: `${base}/files/*path`, handler: withFiles(upload) },
  ]
}

export const fileRoutes: readonly Route[] = [
  ...routesOf('/conversations/:name', ofConversation),
  ...routesOf('/runs/:id', ofRun),
]
