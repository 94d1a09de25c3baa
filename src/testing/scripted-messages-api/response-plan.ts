import { errorEvent, type StreamEvent } from './event-stream.js'
import type { CutManner, Fault, FaultPlace } from './fault-schema.js'
import { errorBody, errorTypeOf, shouldRetry } from './refusal.js'

/** One thing to do on the wire. */
export type ResponseStep =
  | { readonly type: 'head'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly type: 'write'; readonly bytes: Buffer }
  | { readonly type: 'wait'; readonly ms: number }
  /** Until somebody closes the connection. */
  | { readonly type: 'stall' }
  /** How it ends: `end` completes the HTTP response. */
  | { readonly type: 'finish'; readonly manner: CutManner }

/** What is to be sent when nothing goes wrong. */
export interface PlannedBody {
  readonly requestId: string
  readonly contentType: string
  /** The events of a stream, or the one piece of a JSON body. */
  readonly events: readonly StreamEvent[]
  readonly msPerChunk: number
}

/** An event, or what is left of one. */
interface Chunk {
  readonly name: string
  readonly block: number | null
  readonly bytes: Buffer
}

function chunkOf({ name, block, text }: StreamEvent): Chunk {
  return { name, block, bytes: Buffer.from(text) }
}

type Striking = Extract<Fault, { type: 'cut' | 'stall' | 'error_event' }>

/** Everything that will happen on the wire, decided before the first byte: a pure function of reply and faults. */
export function planResponse(body: PlannedBody, faults: readonly Fault[]): readonly ResponseStep[] {
  const delays = faults.flatMap((fault): ResponseStep[] =>
    fault.type === 'delay' ? [{ type: 'wait', ms: fault.ms }] : [],
  )
  const fatal = faults.find(({ type }) => type !== 'delay' && type !== 'garbage')
  if (fatal?.type === 'close') return [...delays, { type: 'finish', manner: fatal.manner ?? 'close' }]
  if (fatal?.type === 'status') return [...delays, ...errorResponse(fatal, body.requestId)]
  const chunks = withGarbage(body, faults)
  const head: ResponseStep = { type: 'head', status: 200, headers: { 'content-type': body.contentType } }
  return [...delays, head, ...(fatal === undefined ? complete(chunks, body) : struck(chunks, body, fatal as Striking))]
}

/** The error answer of a `status` fault, or of a refusal. */
export function errorResponse(
  { status, headers = {}, error = {} }: Pick<Extract<Fault, { type: 'status' }>, 'status' | 'headers' | 'error'>,
  requestId: string,
): readonly ResponseStep[] {
  const type = error.type ?? errorTypeOf(status)
  const text = errorBody(type, error.message ?? defaultMessages[type] ?? 'Internal server error', requestId)
  const all = { 'content-type': 'application/json', 'x-should-retry': String(shouldRetry(status)), ...headers }
  return [
    { type: 'head', status, headers: all },
    { type: 'write', bytes: Buffer.from(text) },
    { type: 'finish', manner: 'end' },
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
    const place = placeOf(fault.at, chunks)
    const text = fault.text ?? 'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{\n\n'
    const junk = { name: 'garbage', block: null, bytes: Buffer.from(text) }
    return [...place.before, junk, ...place.after]
  }, body.events.map(chunkOf))
}

function complete(chunks: readonly Chunk[], body: PlannedBody): readonly ResponseStep[] {
  return [...writes(chunks, body.msPerChunk), { type: 'finish', manner: 'end' }]
}

function struck(chunks: readonly Chunk[], body: PlannedBody, fault: Striking): readonly ResponseStep[] {
  const sent = writes(placeOf(fault.at, chunks).before, body.msPerChunk)
  if (fault.type === 'stall') return [...sent, { type: 'stall' }]
  if (fault.type === 'cut') return [...sent, { type: 'finish', manner: fault.manner ?? 'close' }]
  const { type = 'overloaded_error', message = defaultMessages[type] ?? 'Overloaded' } = fault.error ?? {}
  return [...sent, ...complete([chunkOf(errorEvent(type, message, body.requestId))], body)]
}

function writes(chunks: readonly Chunk[], msPerChunk: number): readonly ResponseStep[] {
  return chunks.flatMap(({ bytes }): ResponseStep[] => {
    const write: ResponseStep = { type: 'write', bytes }
    return msPerChunk > 0 ? [{ type: 'wait', ms: msPerChunk }, write] : [write]
  })
}

interface Split {
  readonly before: readonly Chunk[]
  readonly after: readonly Chunk[]
}

/** Parts the chunks at a place; a place that is not there is the end. */
function placeOf(place: FaultPlace, chunks: readonly Chunk[]): Split {
  if ('bytes' in place) return splitAtByte(chunks, place.bytes)
  if (chunks.length === 1) return splitAtByte(chunks, Math.floor((chunks[0]?.bytes.length ?? 0) / 2))
  const index = 'before' in place ? indexBefore(place.before, chunks) : indexInside(place.insideBlock, chunks)
  return { before: chunks.slice(0, index), after: chunks.slice(index) }
}

function indexBefore(name: string, chunks: readonly Chunk[]): number {
  const index = chunks.findIndex((chunk) => chunk.name === name)
  return index === -1 ? chunks.length : index
}

function indexInside(block: number, chunks: readonly Chunk[]): number {
  const deltas = chunks.flatMap((chunk, index) =>
    chunk.block === block && chunk.name === 'content_block_delta' ? [index] : [],
  )
  const middle = deltas[Math.ceil(deltas.length / 2)]
  if (middle !== undefined) return middle
  const stop = chunks.findIndex((chunk) => chunk.block === block && chunk.name === 'content_block_stop')
  return stop === -1 ? chunks.length : stop
}

/** By bytes, so that a split may well fall into the middle of a character. */
function splitAtByte(chunks: readonly Chunk[], count: number): Split {
  const before: Chunk[] = []
  const after: Chunk[] = []
  let room = count
  for (const chunk of chunks) {
    const taken = Math.min(room, chunk.bytes.length)
    if (taken > 0) before.push({ ...chunk, bytes: chunk.bytes.subarray(0, taken) })
    if (taken < chunk.bytes.length) after.push({ ...chunk, bytes: chunk.bytes.subarray(taken) })
    room -= taken
  }
  return { before, after }
}
