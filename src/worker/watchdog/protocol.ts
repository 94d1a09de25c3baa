import type { MessagePort } from 'node:worker_threads'
import type { ConnectionOptions } from '@temporalio/client'
import type { Payload } from '@temporalio/common'
import { eventLoopBlockKey } from '../../common/names.js'
import type { EncryptionKey } from '../../values/encryption/key-ring.js'

/** An activity of this process, in the form for the watchdog thread. */
export interface WatchedActivity {
  /** Unique in this process. */
  readonly id: number
  readonly taskToken: Uint8Array
  readonly activityType: string
  readonly workflowId: string
  /** Milliseconds; 0 when the activity has no heartbeat timeout. */
  readonly heartbeatTimeoutMs: number
  /** Timeout of one attempt of the tool, in milliseconds; undefined when the activity is not a tool call. */
  readonly toolTimeoutMs?: number | undefined
  /** Whether it is an activity of the user, whose worker has the plugin. */
  readonly isUserActivity?: boolean
  /** Heartbeat details, as JSON; undefined when there are none. */
  readonly details: string | undefined
  /** The details as the codec of the user encodes them. */
  readonly encoded?: Payload | undefined
}

/** Messages to the watchdog thread. */
export type ToWatchdog =
  /**
   * An activity began, and the activities `ended` have ended. Each message wakes the thread, so one message has both.
   */
  | { readonly type: 'begin'; readonly activity: WatchedActivity; readonly ended: readonly number[] }
  /** The details of the last heartbeat. */
  | { readonly type: 'details'; readonly id: number; readonly details: string | undefined }
  /** Details that the thread has, as the codec of the user encodes them. */
  | { readonly type: 'encoded'; readonly id: number; readonly details: string; readonly encoded: Payload }
  | { readonly type: 'end'; readonly ended: readonly number[] }

/** Messages from the watchdog thread. Times are those of {@link monotonicMs}. */
export type FromWatchdog =
  | { readonly type: 'blocked'; readonly cause: BlockCause }
  | { readonly type: 'ended'; readonly message: string }
  /** The server recorded a heartbeat of this activity. */
  | { readonly type: 'heartbeatRecorded'; readonly id: number; readonly at: number }
  /** The server asks the activity to stop, or no longer knows it. */
  | { readonly type: 'stop'; readonly id: number; readonly reason: 'CANCELLED' | 'NOT_FOUND' }

/** The code that blocks the event loop: `tool NAME`, `activity NAME` of the user, or null for none of these. */
export type BlockCause = { readonly name: string | null }

/** The `workerData` of the thread. */
export interface WatchdogThreadData {
  readonly port: MessagePort
  readonly memory: SharedArrayBuffer
  readonly namespace: string
  readonly identity: string
  /** Encrypts heartbeat details. Undefined: they are not encrypted. */
  readonly encryptionKey: EncryptionKey | undefined
  /** Whether the user has a codec, which only the main thread can use. */
  readonly hasUserCodec: boolean
  /** Log of the thread: a file descriptor or the path of a file. Undefined: no log. */
  readonly log: number | string | undefined
  readonly logFormat: 'text' | 'json'
  readonly connectionOptions: Pick<ConnectionOptions, 'address' | 'tls' | 'apiKey' | 'metadata'>
}

/** Interval at which the event loop stores the time, and at which the thread reads it. */
export const tickMs = 250

/** The event loop counts as blocked after this time; then the thread sends the heartbeats. */
export const blockedThresholdMs = 1_000

/**
 * A block is reported in the log and in heartbeat details after this time. Shorter ones are common on a busy machine.
 */
export const reportThresholdMs = 2_000

/**
 * Memory shared by the main thread and the watchdog thread: the time when the event loop last ran ({@link
 * monotonicMs}), and the id of the activity whose own code runs (0: none).
 */
export class SharedState {
  readonly memory: SharedArrayBuffer
  readonly #numbers: BigInt64Array

  constructor(memory = new SharedArrayBuffer(16)) {
    this.memory = memory
    this.#numbers = new BigInt64Array(memory)
  }

  get lastTickAt(): number {
    return this.#read(0)
  }

  set lastTickAt(milliseconds: number) {
    this.#write(0, milliseconds)
  }

  get activeCallId(): number {
    return this.#read(1)
  }

  set activeCallId(id: number) {
    this.#write(1, id)
  }

  #read(index: number): number {
    return Number(Atomics.load(this.#numbers, index))
  }

  #write(index: number, value: number): void {
    Atomics.store(this.#numbers, index, BigInt(value))
  }
}

/** Whole milliseconds of the monotonic clock, which all threads of a process share. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

/** Text such as `tool charge has blocked the event loop of the worker for 12.3 s`. */
export function describeStall({ name }: BlockCause, milliseconds: number, isOver: boolean): string {
  const time = `${(milliseconds / 1_000).toFixed(1)} s`
  const loop = 'the event loop of the worker'
  if (name === null) return `${loop} ${isOver ? 'was' : 'has been'} blocked for ${time}, not by the code of a tool`
  return `${name} ${isOver ? '' : 'has '}blocked ${loop} for ${time}`
}

/** Adds a note about the blocked event loop to heartbeat details. Details that are not an object stay unchanged. */
export function withNote(details: unknown, note: string | undefined): unknown {
  if (note === undefined || Array.isArray(details)) return details
  return details === undefined || typeof details === 'object' ? { ...details, [eventLoopBlockKey]: note } : details
}
