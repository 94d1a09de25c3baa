import { fileURLToPath } from 'node:url'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { Context } from '@temporalio/activity'
import type { DataConverter } from '@temporalio/common'
import { type ActivityInterceptors, type NativeConnection, Runtime } from '@temporalio/worker'
import { keepBy } from '../../activities/keeper.js'
import { messageOf } from '../../common/errors.js'
import type { ToolRegistry } from '../../tools/registry.js'
import type { TemporalServer } from '../dev-server/index.js'
import { KeptActivity, type Watch } from './kept-activity.js'
import {
  type Cause,
  everyMs,
  type FromThread,
  inWords,
  monotonicMs,
  namedMs,
  SharedState,
  type ThreadData,
  type ToThread,
} from './protocol.js'

/** What takes memory in the thread is loading its libraries once. */
const resourceLimits = { maxYoungGenerationSizeMb: 2 }

/** Made by the build, and as far from `src/worker/stall` as from `dist/worker/stall`. */
const entry = fileURLToPath(new URL('../../../dist/worker/stall/thread.js', import.meta.url))

export interface StallWatchOptions {
  readonly server: Pick<TemporalServer, 'namespace' | 'connectionOptions'>
  readonly connection: NativeConnection
  readonly dataConverter: DataConverter
  readonly registry: ToolRegistry
  /** Where the thread writes while the event loop is blocked: the path of a file, or nowhere. Default: stderr. */
  readonly log?: string | false | undefined
}

/**
 * Keeps the activities of this process alive while a tool blocks the event loop, and says which tool it is: a thread of
 * its own looks whether the event loop runs, sends heartbeats in its place and writes to the log. It ends with
 * {@link StallWatch.close}, and does not keep the process alive.
 */
export class StallWatch implements Watch {
  readonly connection: NativeConnection
  readonly dataConverter: DataConverter
  readonly #toolTimeouts: ReadonlyMap<string, number>
  readonly #state = new SharedState()
  readonly #port: MessagePort
  readonly #thread: Worker
  readonly #beating = setInterval(() => this.#beat(), everyMs).unref()
  readonly #activities = new Map<number, KeptActivity>()
  #latest = 0
  /** Of what the thread has noticed since the event loop ran last. */
  #cause: Cause | undefined

  constructor({ server, connection, dataConverter, registry, log: target }: StallWatchOptions) {
    this.connection = connection
    this.dataConverter = dataConverter
    this.#toolTimeouts = new Map(registry.plans().map(({ name, timeoutMs }) => [name, timeoutMs]))
    this.#beat()
    const { port1, port2 } = new MessageChannel()
    const { address, tls, apiKey, metadata } = server.connectionOptions
    const workerData: ThreadData = {
      port: port2,
      memory: this.#state.memory,
      namespace: server.namespace,
      identity: `${process.pid}@watch-thread`,
      log: target === false ? undefined : (target ?? process.stderr.fd),
      connectionOptions: {
        ...(address === undefined ? {} : { address }),
        ...(tls === undefined ? {} : { tls }),
        ...(apiKey === undefined ? {} : { apiKey }),
        ...(metadata === undefined ? {} : { metadata }),
      },
    }
    // Without the options of this process: what they load is not for this thread.
    this.#thread = new Worker(entry, { workerData, transferList: [port2], execArgv: [], resourceLimits })
    this.#thread.on('error', (error) => log(`tools that block are not noticed: ${messageOf(error)}`))
    this.#thread.unref()
    this.#port = port1
    port1.on('message', (message: FromThread) => this.#take(message))
    port1.unref()
  }

  /** For every Temporal worker of the process. */
  readonly interceptors = (context: Context): ActivityInterceptors => ({
    inbound: { execute: (input, next) => this.#keep(context, () => next(input)) },
  })

  /** Idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#beating)
    this.#port.close()
    await this.#thread.terminate()
  }

  silentMs(): number {
    return monotonicMs() - this.#state.get('beat')
  }

  describe(milliseconds: number): string | undefined {
    this.readMessages()
    return this.#cause && inWords(this.#cause, milliseconds, true)
  }

  /** Those that have arrived while the event loop was blocked are otherwise read too late. */
  readMessages(): void {
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port)) {
      this.#take(next.message as FromThread)
    }
  }

  tell(message: ToThread): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have none
    this.#port.postMessage(message)
  }

  setHandler(id: number): void {
    this.#state.set('handler', id)
  }

  async #keep(context: Context, work: () => Promise<unknown>): Promise<unknown> {
    const { activityType, heartbeatDetails, heartbeatTimeoutMs = 0, taskToken, workflowExecution } = context.info
    const id = ++this.#latest
    const workflowId = workflowExecution?.workflowId ?? ''
    const toolTimeoutMs = this.#toolTimeouts.get(activityType)
    const details = heartbeatDetails === undefined ? undefined : JSON.stringify(heartbeatDetails)
    const watched = { id, taskToken, activityType, workflowId, heartbeatTimeoutMs, toolTimeoutMs, details }
    const activity = new KeptActivity(context, watched, this)
    keepBy(context, activity)
    this.#activities.set(id, activity)
    this.tell({ type: 'begin', activity: watched })
    try {
      return await activity.complete(work)
    } finally {
      this.#activities.delete(id)
      this.tell({ type: 'end', id })
    }
  }

  #beat(): void {
    const silentMs = this.silentMs()
    if (silentMs >= namedMs) for (const each of this.#activities.values()) each.wasBlocked(silentMs)
    this.#state.set('beat', monotonicMs())
    this.#cause = undefined
  }

  #take(message: FromThread): void {
    switch (message.type) {
      case 'blocked':
        this.#cause = message.cause
        return
      case 'ended':
        log(message.message)
        return
      case 'sent':
        this.#activities.get(message.id)?.wasSent(message.at)
        return
      case 'stop':
        this.#activities.get(message.id)?.stopFor(message.reason)
    }
  }
}

function log(message: string): void {
  Runtime.instance().logger.warn(message)
}
