/*
 * Event-loop watchdog: keeps activities alive while a tool blocks the event loop of the worker process.
 *
 * Owns the detection of a blocked event loop, and the heartbeats and outcomes of activities during and after a block.
 * Boundary: one thread per worker process with its own gRPC connection. Both sides share two numbers (`SharedState`)
 * and a message port (`protocol.ts`).
 *
 * Invariants:
 * 1. A tool is named as the cause only when its own code runs, and only for time in which the main thread had a
 *    processor. A tool that is only in progress is not named: the engine, or a library, may block as well.
 * 2. Heartbeats of the thread carry the last details of the activity.
 * 3. The outcome of an activity is reported once: through core, or directly to the server.
 * 4. A block beyond the limit fails the call of the tool that is its cause, without retry. Without such a tool the
 *    thread stops its heartbeats, and the activities time out.
 */
import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import { fileURLToPath } from 'node:url'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { Context } from '@temporalio/activity'
import { type DataConverter, defaultPayloadConverter, type PayloadCodec } from '@temporalio/common'
import {
  type ActivityInterceptors,
  type NativeConnection,
  type NativeConnectionOptions,
  Runtime,
} from '@temporalio/worker'
import { setActivityChannel } from '../../activities/activity-channel.js'
import { defined } from '../../common/defined.js'
import { messageOf } from '../../common/errors.js'
import { metrics } from '../../common/telemetry/metrics.js'
import { activityNames } from '../../common/names.js'
import type { ToolRegistry } from '../../tools/registry.js'
import type { EncryptionKey } from '../../values/encryption/key-ring.js'
import { EncryptionCodec } from '../../values/encryption/payload-codec.js'
import { ActivityReporter, type ActivityWatchdog } from './activity-reporter.js'
import {
  type BlockCause,
  blockedThresholdMs,
  tickMs,
  type FromWatchdog,
  describeStall,
  monotonicMs,
  reportThresholdMs,
  SharedState,
  type WatchdogThreadData,
  type ToWatchdog,
} from './protocol.js'

const engineActivities: ReadonlySet<string> = new Set(Object.values(activityNames))

/** The thread uses memory only while it loads its libraries. */
const resourceLimits = { maxYoungGenerationSizeMb: 2 }

/** Written by the build. The same relative path works from `src/worker/watchdog` and from `dist/worker/watchdog`. */
const entry = fileURLToPath(new URL('../../../dist/worker/watchdog/thread.js', import.meta.url))

interface EventLoopWatchdogOptions {
  readonly namespace: string
  /** Options for the connection of the thread. */
  readonly connectionOptions: NativeConnectionOptions
  readonly connection: NativeConnection
  readonly dataConverter: DataConverter
  /** Encrypts the heartbeats of the thread. Undefined: they are not encrypted. */
  readonly encryptionKey: EncryptionKey | undefined
  readonly registry: ToolRegistry
  /** Log of the thread: the path of a file, or `false` for none. Default: stderr. */
  readonly log?: string | false | undefined
  /** Default: text. */
  readonly logFormat?: 'text' | 'json' | undefined
}

/**
 * Starts the watchdog thread. While the event loop is blocked, the thread sends heartbeats and logs which tool blocks
 * it. The thread ends with {@link EventLoopWatchdog.close} and does not keep the process alive.
 */
export class EventLoopWatchdog implements ActivityWatchdog {
  readonly connection: NativeConnection
  readonly dataConverter: DataConverter
  /** The codecs of a worker with a codec of its user, in their order. Empty without one. */
  readonly #userCodecs: readonly PayloadCodec[]
  readonly #registry: ToolRegistry
  readonly #state = new SharedState()
  readonly #port: MessagePort
  readonly #thread: Worker
  readonly #tickTimer = setInterval(() => this.#tick(), tickMs).unref()
  readonly #activities = new Map<number, ActivityReporter>()
  /** The id of the activity whose tool, or whose user's code, is running or being awaited. */
  readonly #codeOf = new AsyncLocalStorage<number>()
  /** Tells the thread which activity's code runs, also after an `await` in it. It costs 0.2 µs for each `await`. */
  readonly #hook = createHook({ before: () => this.#enter(this.#codeOf.getStore() ?? 0), after: () => this.#leave() })
  /** The values of `activeCallId` outside of the running callbacks. */
  readonly #outerCallIds: number[] = []
  /** Number of activities whose code is tracked. */
  #followed = 0
  /** Ids of activities that have ended and whose end the thread does not know yet. */
  #ended: number[] = []
  #lastId = 0
  /** The cause that the thread has reported since the event loop last ran. */
  #cause: BlockCause | undefined

  constructor({
    namespace,
    connectionOptions,
    connection,
    dataConverter,
    encryptionKey,
    registry,
    log: target,
    logFormat = 'text',
  }: EventLoopWatchdogOptions) {
    this.connection = connection
    this.dataConverter = dataConverter
    const { payloadCodecs = [] } = dataConverter
    this.#userCodecs = payloadCodecs.every((codec) => codec instanceof EncryptionCodec) ? [] : payloadCodecs
    this.#registry = registry
    // The first tick has no tick before it, so the time until then does not count as blocked.
    this.#state.lastTickAt = monotonicMs()
    const { port1, port2 } = new MessageChannel()
    const { address, tls, apiKey, metadata } = connectionOptions
    const workerData: WatchdogThreadData = {
      port: port2,
      memory: this.#state.memory,
      namespace,
      identity: `${process.pid}@watch-thread`,
      encryptionKey,
      hasUserCodec: this.#userCodecs.length > 0,
      log: target === false ? undefined : (target ?? process.stderr.fd),
      logFormat,
      connectionOptions: defined({ address, tls, apiKey, metadata }),
    }
    // Starts without the Node options of this process: they may load modules that the thread must not have.
    this.#thread = new Worker(entry, { workerData, transferList: [port2], execArgv: [], resourceLimits })
    this.#thread.on('error', (error) => log(`tools that block are not noticed: ${messageOf(error)}`))
    this.#thread.unref()
    this.#port = port1
    port1.on('message', (message: FromWatchdog) => this.#handleMessage(message))
    port1.unref()
  }

  /** Activity interceptors for every Temporal worker of the process. */
  readonly interceptors = (context: Context): ActivityInterceptors => ({
    inbound: { execute: (input, next) => this.#runActivity(context, () => next(input)) },
  })

  /** Idempotent. */
  async close(): Promise<void> {
    this.#hook.disable()
    clearInterval(this.#tickTimer)
    this.#port.close()
    await this.#thread.terminate()
  }

  blockedForMs(): number {
    return monotonicMs() - this.#state.lastTickAt
  }

  describe(milliseconds: number): string | undefined {
    this.readMessages()
    return this.#cause && describeStall(this.#cause, milliseconds, true)
  }

  /** Handles messages that arrived while the event loop was blocked. The event loop would handle them too late. */
  readMessages(): void {
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port)) {
      this.#handleMessage(next.message as FromWatchdog)
    }
  }

  send(message: ToWatchdog): void {
    this.#post(message)
    if (this.#userCodecs.length === 0 || message.type === 'end') return
    const { id, details } = message.type === 'begin' ? message.activity : message
    if (details !== undefined && message.type !== 'encoded') void this.#encode(id, details)
  }

  #post(message: ToWatchdog): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have none
    this.#port.postMessage(message)
  }

  /** The thread has no codec of the user, and must not send what the user encrypts. */
  async #encode(id: number, details: string): Promise<void> {
    try {
      const context = this.#activities.get(id)?.serializationContext
      let payloads = [defaultPayloadConverter.toPayload(JSON.parse(details))]
      for (const codec of this.#userCodecs) payloads = await codec.encode(payloads, context)
      const [encoded] = payloads
      if (encoded && this.#activities.has(id)) this.#post({ type: 'encoded', id, details, encoded })
    } catch {
      // The thread sends no heartbeat of this activity until there are other details.
    }
  }

  runCode<Result>(id: number, code: () => Result): Result {
    if (this.#followed++ === 0) this.#hook.enable()
    this.#enter(id)
    try {
      const result = this.#codeOf.run(id, code)
      if (result instanceof Promise) {
        const unfollow = () => this.#unfollow()
        result.then(unfollow, unfollow)
      } else this.#unfollow()
      return result
    } catch (thrown) {
      this.#unfollow()
      throw thrown
    } finally {
      this.#leave()
    }
  }

  #unfollow(): void {
    if (--this.#followed > 0) return
    this.#hook.disable()
    // No `after` follows the `before` of the callbacks that are running now.
    this.#outerCallIds.length = 0
    this.#state.activeCallId = 0
  }

  #enter(id: number): void {
    this.#outerCallIds.push(this.#state.activeCallId)
    this.#state.activeCallId = id
  }

  #leave(): void {
    this.#state.activeCallId = this.#outerCallIds.pop() ?? 0
  }

  async #runActivity(context: Context, work: () => Promise<unknown>): Promise<unknown> {
    const { activityType, heartbeatDetails, heartbeatTimeoutMs = 0, workflowExecution } = context.info
    // Core's token is a view of a larger buffer, and a message would copy the whole buffer.
    const taskToken = new Uint8Array(context.info.taskToken)
    const id = ++this.#lastId
    const workflowId = workflowExecution?.workflowId ?? ''
    const toolTimeoutMs = this.#registry.get(activityType)?.timeoutMs
    const isUserActivity = toolTimeoutMs === undefined && !engineActivities.has(activityType)
    const details = heartbeatDetails === undefined ? undefined : JSON.stringify(heartbeatDetails)
    const watched = {
      id,
      taskToken,
      activityType,
      workflowId,
      heartbeatTimeoutMs,
      toolTimeoutMs,
      isUserActivity,
      details,
    }
    const activity = new ActivityReporter(context, watched, this)
    setActivityChannel(context, activity)
    this.#activities.set(id, activity)
    this.send({ type: 'begin', activity: watched, ended: this.#takeEnded() })
    try {
      return await activity.complete(isUserActivity ? () => this.runCode(id, work) : work)
    } finally {
      this.#activities.delete(id)
      this.#ended.push(id)
    }
  }

  #takeEnded(): readonly number[] {
    const ended = this.#ended
    this.#ended = []
    return ended
  }

  #tick(): void {
    if (this.#ended.length > 0) this.send({ type: 'end', ended: this.#takeEnded() })
    const silentMs = this.blockedForMs()
    if (silentMs >= reportThresholdMs) metrics.observe('ptc_event_loop_stall_milliseconds', silentMs, {})
    if (silentMs >= blockedThresholdMs) for (const each of this.#activities.values()) each.recordBlock(silentMs)
    this.#state.lastTickAt = monotonicMs()
    this.#cause = undefined
  }

  #handleMessage(message: FromWatchdog): void {
    switch (message.type) {
      case 'blocked':
        this.#cause = message.cause
        return
      case 'ended':
        log(message.message)
        return
      case 'heartbeatRecorded':
        this.#activities.get(message.id)?.recordHeartbeat(message.at)
        return
      case 'stop':
        this.#activities.get(message.id)?.requestStop(message.reason)
    }
  }
}

function log(message: string): void {
  Runtime.instance().logger.warn(message)
}
