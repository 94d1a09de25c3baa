import { errorEvent, type StreamEvent } from './event-stream.js'
import type { DisconnectMode, Fault, FaultPosition } from '../script/faults.js'
import { type ApiErrorType, errorStatuses } from '../request/api-error.js'

/** One action on the connection. */
export type ResponseStep =
  | { readonly type: 'head'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly type: 'write'; readonly bytes: Buffer }
  | { readonly type: 'wait'; readonly ms: number }
  /** Waits until the client or the server closes the connection. */
  | { readonly type: 'stall' }
  /** The last step. `end` completes the HTTP response. */
  | { readonly type: 'finish'; readonly mode: DisconnectMode }

/** The response without faults. */
interface PlannedBody {
  readonly requestId: string
  readonly contentType: string
  /** The events of a stream, or a JSON body as one event. */
  readonly events: readonly StreamEvent[]
  readonly msPerChunk: number
}

/** An event or a part of one. */
interface Chunk {
  readonly name: string
  readonly block: number | null
  readonly bytes: Buffer
}

function chunkOf({ name, block, text }: StreamEvent): Chunk {
  return { name, block, bytes: Buffer.from(text) }
}

type MidResponseFault = Extract<Fault, { type: 'cut' | 'stall' | 'error_event' }>

/** Plans the whole response before the first byte. A pure function of reply and faults. */
export function planResponse(body: PlannedBody, faults: readonly Fault[]): readonly ResponseStep[] {
  const delays = faults.flatMap((fault): ResponseStep[] =>
    fault.type === 'delay' ? [{ type: 'wait', ms: fault.ms }] : [],
  )
  const terminalFault = faults.find(({ type }) => type !== 'delay' && type !== 'garbage')
  if (terminalFault?.type === 'close') return [...delays, { type: 'finish', mode: terminalFault.mode ?? 'close' }]
  if (terminalFault?.type === 'status') return [...delays, ...errorResponse(terminalFault, body.requestId)]
  const chunks = withGarbage(body, faults)
  const head: ResponseStep = { type: 'head', status: 200, headers: { 'content-type': body.contentType } }
  return [
    ...delays,
    head,
    ...(terminalFault === undefined
      ? completeSteps(chunks, body)
      : faultySteps(chunks, body, terminalFault as MidResponseFault)),
  ]
}

/** The error response of a `status` fault or of a rejected request. */
export function errorResponse(
  { status, headers = {}, error = {} }: Pick<Extract<Fault, { type: 'status' }>, 'status' | 'headers' | 'error'>,
  requestId: string,
): readonly ResponseStep[] {
  const type = error.type ?? errorTypeForStatus(status)
  const text = errorBody(type, error.message ?? defaultMessages[type] ?? 'Internal server error', requestId)
  const all = { 'content-type': 'application/json', 'x-should-retry': String(shouldRetry(status)), ...headers }
  return [
    { type: 'head', status, headers: all },
    { type: 'write', bytes: Buffer.from(text) },
    { type: 'finish', mode: 'end' },
  ]
}

const defaultMessages: Readonly<Record<string, string>> = {
  authentication_error: 'invalid x-api-key',
  permission_error: 'Your API key does not have permission to use the specified resource.',
  rate_limit_error: "This request would exceed your organization's rate limit. Please try again later.",
  overloaded_error: 'Overloaded',
  api_error: 'Internal server error',
  timeout_error: 'Request timed out',
  invalid_request_error: 'Invalid request',
  not_found_error: 'Not found',
  request_too_large: 'Request exceeds the maximum size',
}

function withGarbage(body: PlannedBody, faults: readonly Fault[]): readonly Chunk[] {
  return faults.reduce((chunks, fault) => {
    if (fault.type !== 'garbage') return chunks
    const place = splitAt(fault.at, chunks)
    const text = fault.text ?? 'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{\n\n'
    const junk = { name: 'garbage', block: null, bytes: Buffer.from(text) }
    return [...place.before, junk, ...place.after]
  }, body.events.map(chunkOf))
}

function completeSteps(chunks: readonly Chunk[], body: PlannedBody): readonly ResponseStep[] {
  return [...writeSteps(chunks, body.msPerChunk), { type: 'finish', mode: 'end' }]
}

function faultySteps(chunks: readonly Chunk[], body: PlannedBody, fault: MidResponseFault): readonly ResponseStep[] {
  const sent = writeSteps(splitAt(fault.at, chunks).before, body.msPerChunk)
  if (fault.type === 'stall') return [...sent, { type: 'stall' }]
  if (fault.type === 'cut') return [...sent, { type: 'finish', mode: fault.mode ?? 'close' }]
  const { type = 'overloaded_error', message = defaultMessages[type] ?? 'Overloaded' } = fault.error ?? {}
  return [...sent, ...completeSteps([chunkOf(errorEvent(type, message, body.requestId))], body)]
}

function writeSteps(chunks: readonly Chunk[], msPerChunk: number): readonly ResponseStep[] {
  return chunks.flatMap(({ bytes }): ResponseStep[] => {
    const write: ResponseStep = { type: 'write', bytes }
    return msPerChunk > 0 ? [{ type: 'wait', ms: msPerChunk }, write] : [write]
  })
}

interface SplitChunks {
  readonly before: readonly Chunk[]
  readonly after: readonly Chunk[]
}

/** Splits the chunks at a position. A missing position is the end. */
function splitAt(place: FaultPosition, chunks: readonly Chunk[]): SplitChunks {
  if ('bytes' in place) return splitAtByte(chunks, place.bytes)
  if (chunks.length === 1) return splitAtByte(chunks, Math.floor((chunks[0]?.bytes.length ?? 0) / 2))
  const index = 'before' in place ? indexBeforeEvent(place.before, chunks) : indexInsideBlock(place.insideBlock, chunks)
  return { before: chunks.slice(0, index), after: chunks.slice(index) }
}

function indexBeforeEvent(name: string, chunks: readonly Chunk[]): number {
  const index = chunks.findIndex((chunk) => chunk.name === name)
  return index === -1 ? chunks.length : index
}

function indexInsideBlock(block: number, chunks: readonly Chunk[]): number {
  const deltas = chunks.flatMap((chunk, index) =>
    chunk.block === block && chunk.name === 'content_block_delta' ? [index] : [],
  )
  const middle = deltas[Math.ceil(deltas.length / 2)]
  if (middle !== undefined) return middle
  const stop = chunks.findIndex((chunk) => chunk.block === block && chunk.name === 'content_block_stop')
  return stop === -1 ? chunks.length : stop
}

/** Splits by bytes, possibly in the middle of a character. */
function splitAtByte(chunks: readonly Chunk[], count: number): SplitChunks {
  const before: Chunk[] = []
  const after: Chunk[] = []
  let remaining = count
  for (const chunk of chunks) {
    const taken = Math.min(remaining, chunk.bytes.length)
    if (taken > 0) before.push({ ...chunk, bytes: chunk.bytes.subarray(0, taken) })
    if (taken < chunk.bytes.length) after.push({ ...chunk, bytes: chunk.bytes.subarray(taken) })
    remaining -= taken
  }
  return { before, after }
}

/** The error type that the API uses for a status, for faults that give only the status. */
function errorTypeForStatus(status: number): ApiErrorType {
  const known = (Object.keys(errorStatuses) as ApiErrorType[]).find((type) => errorStatuses[type] === status)
  return known ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
}

/** The body of an error, with the API's order of fields. */
function errorBody(type: string, message: string, requestId: string): string {
  return JSON.stringify({ type: 'error', error: { type, message }, request_id: requestId })
}

/** Value of `x-should-retry`, which the official clients prefer to the status. */
function shouldRetry(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500
}
