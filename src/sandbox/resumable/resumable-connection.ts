import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { deferred } from '../../common/async/deferred.js'
import { PtcError } from '../../common/errors.js'
import { failpoint } from '../../common/failpoint.js'
import type { SandboxConnection, SandboxEnd } from '../backend.js'
import { sigkillExitCode } from '../sandbox-end.js'
import { type Packet, PacketReader } from './packets.js'
import { ResumableStream } from './resumable-stream.js'

/** One connection of bytes to a relay. It may lose bytes, and may break at any time. */
export interface Transport {
  send(bytes: Uint8Array): void
  /** Idempotent. */
  close(): void
}

export interface Handlers {
  readonly onBytes: (bytes: Uint8Array) => void
  /** Called once, also after `close`. */
  readonly onClose: () => void
}

export interface ResumableOptions {
  /** For people. */
  readonly description: string
  readonly image?: string
  /** Opens a connection. @throws when that is not possible now */
  readonly dial: (handlers: Handlers, signal: AbortSignal) => Promise<Transport>
  /** Asked after a connection broke. @throws when nobody answers now */
  readonly findEnd: (signal: AbortSignal) => Promise<SandboxEnd | 'running'>
  /** Ends the sandbox. */
  readonly kill: () => Promise<void>
  /** Milliseconds that a sandbox may take to read the bytes of one `send`. Default 30 s. */
  readonly sendTimeoutMs?: number
  readonly timings?: Partial<Timings>
}

interface Timings {
  readonly tickMs: number
  readonly ackDelayMs: number
  readonly helloRepeatMs: number
  /** Time for the answer to a `hello`, from the first one on. */
  readonly helloTimeoutMs: number
  readonly pingMs: number
  readonly silenceMs: number
  readonly redialMs: number
  /** How long a broken connection is opened again and again. */
  readonly reconnectMs: number
  readonly interruptRepeatMs: number
  readonly interruptTimeoutMs: number
}

const defaultTimings: Timings = {
  tickMs: 250,
  ackDelayMs: 10,
  helloRepeatMs: 500,
  helloTimeoutMs: 20_000,
  pingMs: 15_000,
  silenceMs: 45_000,
  redialMs: 500,
  reconnectMs: 30_000,
  interruptRepeatMs: 500,
  interruptTimeoutMs: 5_000,
}

const defaultSendTimeoutMs = 30_000
const receiveBufferBytes = 256 * 1024

const exitSchema = z.object({
  code: z.int().min(0).max(255),
  outOfMemory: z.boolean(),
  diagnostics: z.string().max(16_384),
})

interface Waiter {
  readonly offset: number
  readonly resolve: () => void
}

interface Interrupt {
  readonly number: number
  readonly confirm: (isInterrupted: boolean) => void
  readonly deadline: number
  sentAt: number
}

/**
 * Connects to a relay, as its new owner.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE when it does not answer; SANDBOX_FENCED when another host has connected meanwhile;
 *   errors of `dial`; the reason of the signal
 */
export async function openResumable(options: ResumableOptions, signal: AbortSignal): Promise<ResumableConnection> {
  const connection = new ResumableConnection(options)
  await connection.start(signal)
  return connection
}

export class ResumableConnection implements SandboxConnection {
  readonly description: string
  readonly image?: string
  readonly received: Readable
  readonly ended: Promise<SandboxEnd>
  readonly #options: ResumableOptions
  readonly #timings: Timings
  readonly #stream = new ResumableStream(randomBytes(16))
  readonly #end = deferred<SandboxEnd>()
  readonly #closing = new AbortController()
  readonly #ticker: NodeJS.Timeout
  #transport: Transport | undefined
  #onWelcome: (() => void) | undefined
  #ackTimer: NodeJS.Timeout | undefined
  #waiters: Waiter[] = []
  #interrupt: Interrupt | undefined
  #interrupts = 0
  #heardAt = 0
  #pingedAt = 0
  #isEnded = false

  constructor(options: ResumableOptions) {
    this.description = options.description
    if (options.image !== undefined) this.image = options.image
    this.#options = options
    this.#timings = { ...defaultTimings, ...options.timings }
    this.ended = this.#end.promise
    this.received = new Readable({
      highWaterMark: receiveBufferBytes,
      read: () => {
        this.#stream.markRead()
        this.#acknowledge()
      },
    })
    this.received.on('error', () => undefined)
    this.#ticker = setInterval(() => this.#tick(), this.#timings.tickMs).unref()
  }

  /** Whether {@link ended} has settled. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  async start(signal: AbortSignal): Promise<void> {
    try {
      await this.#dial(AbortSignal.any([signal, this.#closing.signal]))
    } catch (error) {
      this.#finish(disconnected)
      if ((await this.ended).reason !== 'replaced') throw error
      throw new PtcError('SANDBOX_FENCED', 'another worker has taken over the sandbox', { cause: error })
    }
  }

  async send(bytes: Uint8Array): Promise<void> {
    if (this.#isEnded) throw new PtcError('SANDBOX_LOST', 'the connection to the sandbox is over')
    const offset = this.#stream.write(bytes)
    this.#flush()
    if (this.#stream.sentOffset < offset) await this.#untilSent(offset, bytes.length)
    failpoint('frame.sent')
  }

  async interrupt(): Promise<boolean> {
    if (this.#isEnded) return false
    this.#interrupts += 1
    const number = this.#interrupts
    const confirmed = deferred<boolean>()
    this.#interrupt?.confirm(false)
    const deadline = performance.now() + this.#timings.interruptTimeoutMs
    this.#interrupt = {
      number,
      confirm: (isInterrupted) => confirmed.resolve(isInterrupted),
      deadline,
      sentAt: performance.now(),
    }
    this.#transmit(this.#stream.interrupt(number))
    return confirmed.promise
  }

  async kill(): Promise<void> {
    if (!this.#isEnded) this.#transmit(this.#stream.kill())
    try {
      await this.#options.kill()
      this.#finish({ reason: 'exited', exitCode: sigkillExitCode, diagnostics: '' })
    } finally {
      this.#finish(disconnected)
    }
  }

  async detach(): Promise<void> {
    // The relay need not send again what was received.
    if (this.#stream.isWelcome && this.#stream.isAckPending) this.#transmit(this.#stream.ack())
    this.#finish(disconnected)
    await this.ended
  }

  async #untilSent(offset: number, length: number): Promise<void> {
    const { sendTimeoutMs = defaultSendTimeoutMs } = this.#options
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new PtcError('SANDBOX_PROTOCOL', `the sandbox did not read ${length} bytes within ${sendTimeoutMs} ms`))
        this.#finish(disconnected)
      }, sendTimeoutMs)
      this.#waiters.push({
        offset,
        resolve: () => {
          clearTimeout(timer)
          if (this.#stream.sentOffset >= offset) resolve()
          else reject(new PtcError('SANDBOX_LOST', 'the connection to the sandbox is over'))
        },
      })
    })
  }

  /** Opens a connection, and returns when the relay has answered on it. */
  async #dial(signal: AbortSignal): Promise<void> {
    const { helloRepeatMs, helloTimeoutMs } = this.#timings
    const reader = new PacketReader()
    let isClosed = false
    this.#stream.disconnect()
    const welcomed = deferred<boolean>()
    const transport: Transport = await this.#options.dial(
      {
        onBytes: (bytes) => {
          if (this.#transport !== transport) return
          this.#heardAt = performance.now()
          for (const packet of reader.push(bytes)) this.#receive(packet)
        },
        onClose: () => {
          isClosed = true
          welcomed.resolve(false)
          if (this.#transport === transport) this.#onBroken()
        },
      },
      signal,
    )
    this.#heardAt = performance.now()
    this.#transport = transport
    const onWelcome = (): void => welcomed.resolve(true)
    this.#onWelcome = onWelcome
    const repeat = setInterval(() => transport.send(this.#stream.hello()), helloRepeatMs)
    const deadline = setTimeout(() => welcomed.resolve(false), helloTimeoutMs)
    const abort = (): void => welcomed.resolve(false)
    signal.addEventListener('abort', abort)
    try {
      signal.throwIfAborted()
      if (!isClosed) transport.send(this.#stream.hello())
      const isWelcome = !isClosed && (await welcomed.promise)
      signal.throwIfAborted()
      if (isWelcome) return this.#flush()
      throw new PtcError('SANDBOX_UNAVAILABLE', 'the relay of the sandbox does not answer', {
        hint: 'The image must be one of this version of durable-ptc, with its relay.',
      })
    } catch (error) {
      this.#transport = undefined
      transport.close()
      throw error
    } finally {
      // The connection may have broken meanwhile, and the next one waits for its own welcome.
      if (this.#onWelcome === onWelcome) this.#onWelcome = undefined
      clearInterval(repeat)
      clearTimeout(deadline)
      signal.removeEventListener('abort', abort)
    }
  }

  #receive(packet: Packet): void {
    if (this.#isEnded) return
    const received = this.#stream.receive(packet, performance.now())
    switch (received.type) {
      case 'offered':
        return this.#transmit(this.#stream.hello())
      case 'welcomed':
        this.#onWelcome?.()
        break
      case 'bytes':
        if (this.received.push(received.bytes)) this.#stream.markRead()
        break
      case 'interrupted':
        if (this.#interrupt && received.number >= this.#interrupt.number) this.#confirmInterrupt(true)
        break
      case 'exited':
        this.#transmit(this.#stream.exitAck())
        return this.#finish(readExit(received.exit))
      case 'fenced':
        return this.#finish({ reason: 'replaced', exitCode: null, diagnostics: '' })
      case 'nothing':
    }
    this.#flush()
    this.#acknowledge()
  }

  #flush(): void {
    for (const packet of this.#stream.takePackets(performance.now())) this.#transmit(packet)
    const { sentOffset } = this.#stream
    while ((this.#waiters[0]?.offset ?? Number.POSITIVE_INFINITY) <= sentOffset) this.#waiters.shift()?.resolve()
  }

  /** Data that is sent meanwhile acknowledges, too. */
  #acknowledge(): void {
    if (this.#isEnded || !this.#stream.isWelcome || !this.#stream.isAckPending) return
    if (this.#stream.isAckUrgent) return this.#transmit(this.#stream.ack())
    this.#ackTimer ??= setTimeout(() => {
      this.#ackTimer = undefined
      if (!this.#isEnded && this.#stream.isWelcome && this.#stream.isAckPending) this.#transmit(this.#stream.ack())
    }, this.#timings.ackDelayMs).unref()
  }

  #transmit(packet: Uint8Array): void {
    this.#transport?.send(packet)
  }

  #tick(): void {
    const now = performance.now()
    const { pingMs, silenceMs, interruptRepeatMs } = this.#timings
    const interrupt = this.#interrupt
    if (interrupt && now > interrupt.deadline) this.#confirmInterrupt(false)
    else if (interrupt && now - interrupt.sentAt > interruptRepeatMs) {
      interrupt.sentAt = now
      this.#transmit(this.#stream.interrupt(interrupt.number))
    }
    if (!this.#stream.isWelcome || this.#transport === undefined) return
    // A peer that has disappeared closes nothing.
    if (now - this.#heardAt > silenceMs) return this.#transport.close()
    if (now - this.#pingedAt > pingMs) {
      this.#pingedAt = now
      this.#transmit(this.#stream.ping())
    }
    this.#flush()
  }

  #confirmInterrupt(isInterrupted: boolean): void {
    this.#interrupt?.confirm(isInterrupted)
    this.#interrupt = undefined
  }

  #onBroken(): void {
    this.#transport = undefined
    const wasWelcome = this.#stream.isWelcome
    this.#stream.disconnect()
    if (wasWelcome && !this.#isEnded) void this.#reconnect()
  }

  /** Connects again, or finds out how the sandbox has ended. Never rejects. */
  async #reconnect(): Promise<void> {
    const { reconnectMs, redialMs } = this.#timings
    const { signal } = this.#closing
    const deadline = performance.now() + reconnectMs
    while (performance.now() < deadline && !this.#isEnded) {
      try {
        const end = await this.#options.findEnd(signal)
        if (end !== 'running') return this.#finish(end)
        return await this.#dial(signal)
      } catch {
        await sleep(redialMs, undefined, { signal, ref: false }).catch(() => undefined)
      }
    }
    this.#finish(disconnected)
  }

  #finish(end: SandboxEnd): void {
    if (this.#isEnded) return
    this.#isEnded = true
    clearInterval(this.#ticker)
    clearTimeout(this.#ackTimer)
    this.#confirmInterrupt(false)
    this.#closing.abort()
    this.#transport?.close()
    this.#transport = undefined
    for (const { resolve } of this.#waiters.splice(0)) resolve()
    this.received.push(null)
    this.#end.resolve(end)
  }
}

const disconnected: SandboxEnd = { reason: 'disconnected', exitCode: null, diagnostics: '' }

/** Reads what a relay says about the end of its runner. It is untrusted, and harms only its own session. */
export function readExit(json: Uint8Array | string): SandboxEnd {
  const parsed = exitSchema.safeParse(parseJson(Buffer.from(json).toString()))
  if (!parsed.success) return { reason: 'exited', exitCode: null, diagnostics: '' }
  const { code, outOfMemory, diagnostics } = parsed.data
  const outcome = outOfMemory
    ? ({ reason: 'out_of_memory', note: '[a process of the sandbox used up its memory and was killed]' } as const)
    : ({ reason: 'exited', note: '' } as const)
  return { reason: outcome.reason, exitCode: code, diagnostics: `${diagnostics.trim()}\n${outcome.note}`.trim() }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
