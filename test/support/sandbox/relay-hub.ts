import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import {
  type Handlers,
  openResumable,
  type ResumableConnection,
  type ResumableOptions,
} from '../../../src/sandbox/resumable/index.js'
import { Random } from '../random.js'

/*
 * The relay of a sandbox, as a process of this machine. A hub does what a cluster does with attached connections: all of
 * them get what the relay writes while they are attached, and nothing of what it wrote before.
 */
const relayPath = fileURLToPath(new URL('../../../runner/relay/relay.py', import.meta.url))

export type Change = (bytes: Uint8Array) => readonly Uint8Array[]

export const unchanged: Change = (bytes) => [bytes]

export class RelayHub {
  readonly relay: ChildProcessWithoutNullStreams
  readonly exitCode: Promise<number | null>
  readonly attached = new Set<Handlers>()
  /** What happens to bytes on their way. */
  toRelay = unchanged
  fromRelay = unchanged
  dials = 0
  canDial = true

  /** @param program in Python, or a command */
  constructor(program: string | readonly string[], lease = 60) {
    const command = typeof program === 'string' ? ['/usr/bin/env', 'python3', '-c', program] : program
    this.relay = spawn('python3', ['-I', '-S', '-B', relayPath, '--lease', String(lease), '--', ...command])
    this.exitCode = once(this.relay, 'exit').then(([code]) => code as number | null)
    this.relay.stderr.pipe(process.stderr)
    this.relay.stdin.on('error', () => undefined)
    this.relay.stdout.on('data', (bytes: Buffer) => {
      for (const changed of this.fromRelay(bytes)) for (const { onBytes } of this.attached) onBytes(changed)
    })
    // An ended process closes its connections.
    void this.exitCode.then(() => this.cut())
  }

  /** Breaks all connections. */
  cut(): void {
    for (const handlers of this.attached) {
      this.attached.delete(handlers)
      handlers.onClose()
    }
  }

  connect(options: Partial<ResumableOptions> = {}): Promise<ResumableConnection> {
    return openResumable(
      {
        description: 'a relay',
        dial: async (handlers) => {
          this.dials += 1
          if (!this.canDial) throw new Error('nobody answers')
          this.attached.add(handlers)
          return {
            send: (bytes) => {
              if (!this.attached.has(handlers)) return
              for (const changed of this.toRelay(bytes)) this.relay.stdin.write(changed)
            },
            close: () => {
              if (this.attached.delete(handlers)) handlers.onClose()
            },
          }
        },
        findEnd: async () =>
          this.relay.exitCode === null
            ? 'running'
            : { reason: 'exited', exitCode: this.relay.exitCode, diagnostics: 'found' },
        kill: async () => void this.relay.kill('SIGKILL'),
        ...options,
        timings: { tickMs: 20, redialMs: 10, helloRepeatMs: 50, ...options.timings },
      },
      new AbortController().signal,
    )
  }
}

export const echo = 'import os\nwhile data := os.read(0, 65536):\n  while data: data = data[os.write(1, data):]'
const hubs: RelayHub[] = []

export function startRelay(program: string | readonly string[], lease?: number): RelayHub {
  const hub = new RelayHub(program, lease)
  hubs.push(hub)
  return hub
}

/** Ends the relays of a test. */
export async function endRelays(): Promise<void> {
  for (const { relay } of hubs.splice(0)) {
    relay.kill('SIGKILL')
    if (relay.exitCode === null && relay.signalCode === null) await once(relay, 'exit')
  }
}

export function randomOf(seed: number): (below: number) => number {
  const random = new Random(seed)
  return (below) => random.below(below)
}

/** Bytes with many zeros and ones, which are escaped. */
export function randomBytes(random: (below: number) => number, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => (random(3) === 0 ? random(2) : random(256))))
}

export async function take(connection: ResumableConnection, length: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let left = length
  for await (const chunk of connection.received as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    left -= chunk.length
    if (left <= 0) break
  }
  return Buffer.concat(chunks)
}

/** Sends bytes in pieces and returns what comes back. */
export async function roundTrip(connection: ResumableConnection, bytes: Buffer): Promise<Buffer> {
  const sending = (async () => {
    for (let at = 0; at < bytes.length; at += 50_000) await connection.send(bytes.subarray(at, at + 50_000))
  })()
  const [received] = await Promise.all([take(connection, bytes.length), sending])
  return received
}

export async function rest({ received }: ResumableConnection): Promise<string> {
  const chunks: Buffer[] = []
  received.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(received, 'end')
  return Buffer.concat(chunks).toString()
}
