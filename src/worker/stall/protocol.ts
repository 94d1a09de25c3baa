import type { MessagePort } from 'node:worker_threads'
import type { ConnectionOptions } from '@temporalio/client'
import { blockedNote } from '../../common/names.js'

/** An activity that runs in this process, as the watch thread needs to know it. */
export interface WatchedActivity {
  /** Of this process. */
  readonly id: number
  readonly taskToken: Uint8Array
  readonly activityType: string
  readonly workflowId: string
  /** Milliseconds; 0 when the activity has none, and needs no heartbeats. */
  readonly heartbeatTimeoutMs: number
  /** Milliseconds one attempt of the tool may take; undefined when the activity is no tool call. */
  readonly toolTimeoutMs?: number | undefined
  /** Heartbeat details, as JSON; undefined when there are none. */
  readonly details: string | undefined
}

/** To the watch thread. */
export type ToThread =
  | { readonly type: 'begin'; readonly activity: WatchedActivity }
  /** What was sent with the last heartbeat. */
  | { readonly type: 'details'; readonly id: number; readonly details: string | undefined }
  | { readonly type: 'end'; readonly id: number }

/** From the watch thread. Times are those of {@link monotonicMs}. */
export type FromThread =
  | { readonly type: 'blocked'; readonly cause: Cause }
  | { readonly type: 'ended'; readonly message: string }
  /** The server took a heartbeat of this activity. */
  | { readonly type: 'sent'; readonly id: number; readonly at: number }
  /** The server wants the activity to stop, or does not know it any more. */
  | { readonly type: 'stop'; readonly id: number; readonly reason: 'CANCELLED' | 'NOT_FOUND' }

/** The tools that may be blocking the event loop: one of them does. Empty: no tool call runs. */
export type Cause = readonly string[]

/** What the thread is started with. */
export interface ThreadData {
  readonly port: MessagePort
  readonly memory: SharedArrayBuffer
  readonly namespace: string
  readonly identity: string
  /** Where its lines go: a file descriptor, or the path of a file that they are appended to. Undefined: nowhere. */
  readonly log: number | string | undefined
  readonly connectionOptions: Pick<ConnectionOptions, 'address' | 'tls' | 'apiKey' | 'metadata'>
}

/** How often the event loop says that it runs, and how often the thread looks. */
export const everyMs = 250

/** Since when the event loop counts as blocked, and the thread sends heartbeats. */
export const blockedMs = 1_000

/** Since when the cause is named, in the log and in heartbeat details: less is common on a busy machine. */
export const namedMs = 2_000

/**
 * What main thread and watch thread share: when the event loop ran last ({@link monotonicMs}), and the activity whose
 * tool's `run` has been called and has not returned, or 0.
 */
export class SharedState {
  readonly memory: SharedArrayBuffer
  readonly #numbers: BigInt64Array

  constructor(memory = new SharedArrayBuffer(16)) {
    this.memory = memory
    this.#numbers = new BigInt64Array(memory)
  }

  get(which: 'beat' | 'handler'): number {
    return Number(Atomics.load(this.#numbers, which === 'beat' ? 0 : 1))
  }

  set(which: 'beat' | 'handler', value: number): void {
    Atomics.store(this.#numbers, which === 'beat' ? 0 : 1, BigInt(value))
  }
}

/** Whole milliseconds by a clock that all threads of the process share and that does not jump. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

/** `tool charge has blocked the event loop of the worker for 12.3 s`. */
export function inWords(cause: Cause, milliseconds: number, isOver: boolean): string {
  const time = `${(milliseconds / 1_000).toFixed(1)} s`
  const loop = 'the event loop of the worker'
  if (cause.length === 0) return `${loop} ${isOver ? 'was' : 'has been'} blocked for ${time}; no tool call was running`
  const tools = cause.length === 1 ? `tool ${cause[0]}` : `one of the tools ${cause.slice(0, 10).join(', ')}`
  return `${tools} ${isOver ? '' : 'has '}blocked ${loop} for ${time}`
}

/** Heartbeat details with a note on what blocked the event loop; as they are when they can't hold one. */
export function withNote(details: unknown, note: string | undefined): unknown {
  if (note === undefined || Array.isArray(details)) return details
  return details === undefined || typeof details === 'object' ? { ...details, [blockedNote]: note } : details
}
