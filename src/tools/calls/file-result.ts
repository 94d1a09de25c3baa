import type { StoredFile } from '../../common/files/files.js'
import { maxFileBytes, problemOfFileName } from '../../common/files/files.js'
import { isImageType } from '../../common/conversation/attachments.js'
import { PtcError } from '../../common/errors.js'
import type { Limits } from '../../common/run/limits.js'
import { truncateEnd, utf8Length } from '../../common/text/text.js'
import type { Redactor } from '../credentials/redactor.js'
import { type FileOutputOptions, type FileResult, mediaTypePattern } from '../file-output.js'

/** A file that a tool has returned, for the store. */
export interface ReturnedFile {
  readonly name: string
  readonly content: AsyncIterable<Uint8Array>
  readonly mediaType: string | undefined
  /** Replaces credentials in what is recorded of the content. */
  readonly redact: (text: string) => string
}

/** Stores a file in parts, and returns its record. @throws errors of the content and of the value store */
export type StoreFile = (file: ReturnedFile, signal: AbortSignal) => Promise<StoredFile>

/** The tool whose result is read. */
interface FileTool {
  readonly name: string
  readonly file: FileOutputOptions
}

interface ReadOptions {
  readonly limits: Partial<Pick<Limits, 'tmpBytes'>>
  readonly redactor: Redactor
  readonly store: StoreFile
}

/** The content of a stream of the tool threw `thrown`. */
export class StreamError extends Error {
  readonly thrown: unknown

  constructor(thrown: unknown) {
    super('the stream failed')
    this.thrown = thrown
  }
}

/** Whether the content is read from the tool, which is work of its attempt. */
export function isStreamed(returned: unknown): boolean {
  return isStream(membersOf(returned)['data'])
}

/**
 * Checks and stores what a tool with `output: file()` has returned.
 *
 * @throws PtcError TOOL_OUTPUT_INVALID, TOOL_RESULT_TOO_LARGE; errors of the value store; StreamError
 */
export async function storeResult(
  tool: FileTool,
  returned: unknown,
  { limits, redactor, store }: ReadOptions,
  signal: AbortSignal,
): Promise<StoredFile> {
  const { name, data, mediaType } = checkResult(tool, returned, redactor)
  const { maxBytes = maxFileBytes } = tool.file
  const { tmpBytes = maxFileBytes } = limits
  const limit = Math.min(maxBytes, tmpBytes, maxFileBytes)
  const content = isStream(data) ? readStream(tool, data, limit, signal) : readData(tool, data, limit)
  const stored = await store({ name, content, mediaType, redact: redactor.text }, signal)
  // An API refuses a request with bytes that are no image.
  const isMistaken = stored.mediaType !== mediaType || stored.pixels === undefined
  if (mediaType !== undefined && isImageType(mediaType) && isMistaken) throw invalid(tool, `it is no ${mediaType}`)
  return stored
}

type CheckedResult = Pick<FileResult, 'name' | 'data' | 'mediaType'>

function checkResult(tool: FileTool, returned: unknown, { text: redact }: Redactor): CheckedResult {
  const { name: given, data, mediaType = tool.file.mediaType } = membersOf(returned)
  if (typeof given !== 'string') throw invalid(tool, 'a file is { name, data }, and this has no name')
  const name = redact(given)
  const problem = problemOfFileName(name)
  if (problem !== undefined) throw invalid(tool, `the name ${JSON.stringify(truncateEnd(name, 100))}: ${problem}`)
  if (typeof data !== 'string' && !(data instanceof Uint8Array) && !isStream(data))
    throw invalid(tool, 'data must be a Uint8Array, a text or an async iterable of Uint8Array')
  if (mediaType !== undefined && (typeof mediaType !== 'string' || !mediaTypePattern.test(mediaType)))
    throw invalid(tool, "mediaType must be a type without parameters, such as 'text/csv'")
  return { name, data, mediaType }
}

/** Reading a member of a proxy may throw. */
function membersOf(returned: unknown): Readonly<Partial<Record<string, unknown>>> {
  if (typeof returned !== 'object' || returned === null) return {}
  try {
    const { name, data, mediaType } = returned as Readonly<Partial<Record<string, unknown>>>
    return { name, data, mediaType }
  } catch {
    return {}
  }
}

function isStream(data: unknown): data is AsyncIterable<Uint8Array> {
  return typeof data === 'object' && data !== null && !(data instanceof Uint8Array) && Symbol.asyncIterator in data
}

async function* readData(
  tool: FileTool,
  data: Uint8Array | string,
  limit: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const bytes = typeof data === 'string' ? utf8Length(data) : data.length
  if (bytes > limit) throw tooLarge(tool, limit)
  yield typeof data === 'string' ? Buffer.from(data) : data
}

async function* readStream(
  tool: FileTool,
  stream: AsyncIterable<Uint8Array>,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const pieces = open(stream)
  let bytes = 0
  let hasEnded = false
  try {
    for (;;) {
      const next = await pieces.next().catch((thrown: unknown) => {
        hasEnded = true
        throw new StreamError(thrown)
      })
      signal.throwIfAborted()
      hasEnded = next.done === true
      if (next.done === true) return
      const piece: unknown = next.value
      if (!(piece instanceof Uint8Array)) throw invalid(tool, 'the stream must have pieces of type Uint8Array')
      bytes += piece.length
      if (bytes > limit) throw tooLarge(tool, limit)
      yield piece
    }
  } finally {
    // Errors of the source are ignored, because it is not read any more.
    if (!hasEnded) Promise.resolve(pieces.return?.()).catch(() => undefined)
  }
}

/** @throws StreamError */
function open(stream: AsyncIterable<Uint8Array>): AsyncIterator<Uint8Array> {
  try {
    return stream[Symbol.asyncIterator]()
  } catch (thrown) {
    throw new StreamError(thrown)
  }
}

function invalid({ name }: FileTool, problem: string): PtcError {
  return new PtcError('TOOL_OUTPUT_INVALID', `the result of ${name} is no file: ${problem}`)
}

function tooLarge({ name }: FileTool, limit: number): PtcError {
  return new PtcError('TOOL_RESULT_TOO_LARGE', `the file that ${name} returned has more than ${limit} bytes`, {
    hint: 'Return less, or raise maxBytes of file() or limits.tmpBytes.',
  })
}
