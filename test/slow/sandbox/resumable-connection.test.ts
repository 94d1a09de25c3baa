import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import {
  type Handlers,
  openResumable,
  type ResumableConnection,
  type ResumableOptions,
} from '../../../src/sandbox/resumable/index.js'
import { Random } from '../../support/random.js'

/*
 * The relay of a sandbox, as a process of this machine. A hub does what a cluster does with attached connections: all of
 * them get what the relay writes while they are attached, and nothing of what it wrote before.
 */
const relayPath = fileURLToPath(new URL('../../../runner/relay/relay.py', import.meta.url))

type Change = (bytes: Uint8Array) => readonly Uint8Array[]

const unchanged: Change = (bytes) => [bytes]

class Hub {
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

const echo = 'import os\nwhile data := os.read(0, 65536):\n  while data: data = data[os.write(1, data):]'
const hubs: Hub[] = []

function start(program: string | readonly string[], lease?: number): Hub {
  const hub = new Hub(program, lease)
  hubs.push(hub)
  return hub
}

afterEach(async () => {
  for (const { relay } of hubs.splice(0)) {
    relay.kill('SIGKILL')
    if (relay.exitCode === null && relay.signalCode === null) await once(relay, 'exit')
  }
})

function randomOf(seed: number): (below: number) => number {
  const random = new Random(seed)
  return (below) => random.below(below)
}

/** Bytes with many zeros and ones, which are escaped. */
function randomBytes(random: (below: number) => number, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => (random(3) === 0 ? random(2) : random(256))))
}

async function take(connection: ResumableConnection, length: number): Promise<Buffer> {
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
async function roundTrip(connection: ResumableConnection, bytes: Buffer): Promise<Buffer> {
  const sending = (async () => {
    for (let at = 0; at < bytes.length; at += 50_000) await connection.send(bytes.subarray(at, at + 50_000))
  })()
  const [received] = await Promise.all([take(connection, bytes.length), sending])
  return received
}

async function rest({ received }: ResumableConnection): Promise<string> {
  const chunks: Buffer[] = []
  received.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(received, 'end')
  return Buffer.concat(chunks).toString()
}

test('bytes of all values arrive once and in order, in both directions', async () => {
  const bytes = randomBytes(randomOf(1), 3_000_000)
  const connection = await start(echo).connect()
  expect((await roundTrip(connection, bytes)).equals(bytes)).toBe(true)
})

const faults: Readonly<Record<string, (random: (below: number) => number) => Change>> = {
  'bytes are lost': (random) => (bytes) =>
    random(6) === 0 ? [bytes.subarray(0, random(bytes.length)), bytes.subarray(random(bytes.length))] : [bytes],
  'chunks are lost': (random) => (bytes) => (random(5) === 0 ? [] : [bytes]),
  'chunks are repeated': (random) => (bytes) => (random(3) === 0 ? [bytes, bytes] : [bytes]),
  'chunks are reordered': (random) => {
    let held: Uint8Array | undefined
    return (bytes) => {
      const before = held
      held = undefined
      if (before) return [bytes, before]
      if (random(4) === 0) held = bytes
      return held ? [] : [bytes]
    }
  },
  'bytes are changed': (random) => (bytes) => {
    const changed = Buffer.from(bytes)
    if (random(5) === 0) changed[random(changed.length)] = random(256)
    return [changed]
  },
}

test.each(Object.keys(faults))('all bytes arrive although %s', async (name) => {
  const random = randomOf(7)
  const bytes = randomBytes(random, 200_000)
  const hub = start(echo)
  hub.toRelay = faults[name]?.(random) ?? unchanged
  hub.fromRelay = faults[name]?.(random) ?? unchanged
  const connection = await hub.connect()
  expect((await roundTrip(connection, bytes)).equals(bytes)).toBe(true)
})

test('all bytes arrive over connections that break again and again', async () => {
  const random = randomOf(3)
  const bytes = randomBytes(random, 2_000_000)
  const hub = start(echo)
  const connection = await hub.connect()
  let seen = 0
  hub.fromRelay = (chunk) => {
    seen += chunk.length
    if (seen < 300_000) return [chunk]
    seen = 0
    // The rest of this chunk is written while nobody is attached.
    for (const { onBytes } of hub.attached) onBytes(chunk.subarray(0, random(chunk.length)))
    hub.cut()
    return []
  }
  expect((await roundTrip(connection, bytes)).equals(bytes)).toBe(true)
  expect(hub.dials).toBeGreaterThan(5)
})

/** A first connection that breaks is not opened again by itself. */
async function connectAgain(hub: Hub): Promise<ResumableConnection> {
  for (;;) {
    try {
      return await hub.connect({ timings: { helloRepeatMs: 20 } })
    } catch (error) {
      expect(error).toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
    }
  }
}

/** Words of eight characters, each of which shows where it was. */
const words = (count: number): string =>
  Array.from({ length: count }, (_, index) => `n${String(index).padStart(7, '0')}`).join('')

test.each([1, 2, 3, 4, 5, 6])('owners that take over during random faults get all bytes (seed %i)', async (seed) => {
  const random = randomOf(seed)
  const all = words(60_000)
  const hub = start(
    `import os\nout = b''.join(b'n%07d' % n for n in range(60_000))\nwhile out: out = out[os.write(1, out):]`,
  )
  const names = Object.keys(faults)
  const twoFaults = (): Change => {
    const [first, second] = [0, 1].map(() => faults[names[random(names.length)] ?? '']?.(random) ?? unchanged)
    return (bytes) => (first ?? unchanged)(bytes).flatMap((changed) => (second ?? unchanged)(changed))
  }
  hub.toRelay = twoFaults()
  const damage = twoFaults()
  let bytesUntilCut = 150_000 + random(300_000)
  hub.fromRelay = (bytes) => {
    if (hub.attached.size > 0) bytesUntilCut -= bytes.length
    if (bytesUntilCut > 0) return damage(bytes)
    bytesUntilCut = 150_000 + random(300_000)
    hub.cut()
    return []
  }
  let end = 0
  for (let owner = 0; owner < 4; owner += 1) {
    const connection = await connectAgain(hub)
    const reading = rest(connection)
    if (owner < 3) {
      let untilEnough = 50_000 + random(50_000)
      const isEnough = new Promise<void>((resolve) => {
        connection.received.on('data', (bytes: Buffer) => {
          untilEnough -= bytes.length
          if (untilEnough <= 0) resolve()
        })
      })
      await Promise.race([isEnough, connection.ended.then(({ reason }) => expect.fail(reason))])
      await connection.detach()
    }
    const piece = await reading
    // It begins before or where the one before it ended.
    const start = all.indexOf(piece.slice(0, 16))
    expect(start).toBeGreaterThanOrEqual(0)
    expect(start).toBeLessThanOrEqual(end)
    expect(all.startsWith(piece, start)).toBe(true)
    end = start + piece.length
  }
  expect(end).toBe(all.length)
})

test('what the runner writes while nobody is attached arrives later', async () => {
  const hub = start("import os\nos.write(1, b'early ')\nos.read(0, 1)\nos.write(1, b'late')\nos.read(0, 1)")
  const first = await hub.connect()
  expect((await take(first, 6)).toString()).toBe('early ')
  await first.send(Buffer.from('x'))
  await first.detach()
  await expect(first.ended).resolves.toMatchObject({ reason: 'disconnected' })
  const second = await hub.connect()
  expect((await take(second, 4)).toString()).toBe('late')
})

test('the newest of two owners counts, and the older one learns it', async () => {
  const hub = start(echo)
  const [first, other] = [await hub.connect(), await hub.connect()]
  await expect(first.ended).resolves.toMatchObject({ reason: 'replaced' })
  await expect(first.send(Buffer.from('from the first'))).rejects.toMatchObject({ code: 'SANDBOX_LOST' })
  expect((await roundTrip(other, Buffer.from('from the other'))).toString()).toBe('from the other')
})

test('of two owners whose hellos the relay reads at once, the later one counts', async () => {
  const hub = start(echo)
  hub.relay.kill('SIGSTOP')
  const connecting = [hub.connect(), hub.connect()]
  await expect.poll(() => hub.dials).toBe(2)
  hub.relay.kill('SIGCONT')
  const [older, later] = await Promise.allSettled(connecting)
  if (older?.status === 'fulfilled') await expect(older.value.ended).resolves.toMatchObject({ reason: 'replaced' })
  else expect(older?.reason).toMatchObject({ code: 'SANDBOX_FENCED' })
  if (later?.status !== 'fulfilled') throw later?.reason
  expect((await roundTrip(later.value, Buffer.from('from the later'))).toString()).toBe('from the later')
})

test('a hello that arrives after its host has given up takes nothing', async () => {
  const hub = start(echo)
  const delayed: Uint8Array[] = []
  hub.toRelay = (bytes) => (delayed.push(bytes), [])
  await expect(hub.connect({ timings: { helloTimeoutMs: 100 } })).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
  hub.toRelay = unchanged
  const connection = await hub.connect()
  for (const bytes of delayed) hub.relay.stdin.write(bytes)
  expect((await roundTrip(connection, Buffer.from('still here'))).toString()).toBe('still here')
  expect(delayed.length).toBeGreaterThan(0)
})

test('an owner that missed that another one took over is refused when it connects again', async () => {
  const hub = start(echo)
  const first = await hub.connect()
  hub.canDial = false
  hub.cut()
  hub.canDial = true
  const dialsBefore = hub.dials
  const other = await hub.connect()
  await expect(first.ended).resolves.toMatchObject({ reason: 'replaced' })
  expect(hub.dials).toBeGreaterThan(dialsBefore)
  const bytes = randomBytes(randomOf(5), 100_000)
  expect((await roundTrip(other, bytes)).equals(bytes)).toBe(true)
})

test('two owners that write at the same time do not mix their bytes', async () => {
  const hub = start(echo)
  const first = await hub.connect()
  const random = randomOf(11)
  // The first one goes on writing: its packets are torn by those of the other.
  const noise = setInterval(() => hub.relay.stdin.write(randomBytes(random, 500)), 1)
  try {
    const other = await hub.connect()
    const bytes = randomBytes(random, 300_000)
    expect((await roundTrip(other, bytes)).equals(bytes)).toBe(true)
  } finally {
    clearInterval(noise)
  }
  await first.ended
})

test('a reader that stalls stops the runner, and not the connection', async () => {
  const hub = start(
    "import os, sys\nfor i in range(400): os.write(1, b'x' * 100_000)\nos.write(2, b'all written')\nos.read(0, 1)",
  )
  const connection = await hub.connect()
  // An interrupt is answered while nothing is read.
  await expect(connection.interrupt()).resolves.toBe(true)
  const end = await connection.ended.then(
    (ended) => ended,
    () => undefined,
  )
  expect(end).toMatchObject({ reason: 'exited', exitCode: 130 })
  expect(end?.diagnostics).not.toContain('all written')
})

test('a stalled reader goes on without a loss', async () => {
  const length = 5_000_000
  const hub = start(
    `import os, signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nout = b'0123456789' * ${length / 10}\nwhile out: out = out[os.write(1, out):]`,
  )
  let bytesOnTheWay = 0
  hub.fromRelay = (bytes) => ((bytesOnTheWay += bytes.length), [bytes])
  const connection = await hub.connect()
  await expect.poll(() => bytesOnTheWay).toBeGreaterThan(1_000_000)
  await expect(connection.interrupt()).resolves.toBe(true)
  expect(bytesOnTheWay).toBeLessThan(2_000_000)
  expect(await rest(connection)).toBe('0123456789'.repeat(length / 10))
})

test('a lost acknowledgement that makes room is sent again', async () => {
  const length = 3_000_000
  const hub = start(`import os\nout = b'0123456789' * ${length / 10}\nwhile out: out = out[os.write(1, out):]`)
  let bytesFromRelay = 0
  hub.fromRelay = (bytes) => ((bytesFromRelay += bytes.length), [bytes])
  // No ping tells what was read.
  const connection = await hub.connect({ timings: { pingMs: 3_600_000, silenceMs: 3_600_000 } })
  // The window is full, and all of it is acknowledged: an interrupt is answered after the last bytes.
  await expect.poll(() => bytesFromRelay).toBeGreaterThan(1_048_576)
  let lost = 0
  hub.toRelay = () => ((lost += 1), [])
  const reading = rest(connection)
  await expect.poll(() => lost).toBeGreaterThan(0)
  hub.toRelay = unchanged
  expect(await reading).toBe('0123456789'.repeat(length / 10))
})

test('an interrupt that comes before the runner has started ends it', async () => {
  for (let round = 0; round < 25; round += 1) {
    const hub = start(['/bin/sleep', '3600'])
    const connection = await hub.connect({ timings: { helloRepeatMs: 5 } })
    await expect(connection.interrupt()).resolves.toBe(true)
    await expect(connection.ended).resolves.toMatchObject({ reason: 'exited', exitCode: 130 })
  }
})

test.each([0, 5])('the last bytes and the exit code %i of a runner that exits at once arrive', async (code) => {
  for (let round = 0; round < 10; round += 1) {
    const hub = start(`import os\nos.read(0, 1)\nos.write(1, b'last' * 10_000)\nos.write(2, b'why')\nos._exit(${code})`)
    const connection = await hub.connect()
    await connection.send(Buffer.from('x'))
    expect(await rest(connection)).toBe('last'.repeat(10_000))
    await expect(connection.ended).resolves.toEqual({ reason: 'exited', exitCode: code, diagnostics: 'why' })
    await expect(hub.exitCode).resolves.toBe(code)
  }
})

test('a runner that exits while the connection is broken is reported over the next one', async () => {
  const hub = start("import os\nos.read(0, 1)\nos.write(1, b'last')\nos._exit(3)")
  const connection = await hub.connect()
  hub.canDial = false
  await connection.send(Buffer.from('x'))
  hub.cut()
  await expect.poll(() => hub.dials).toBeGreaterThan(3)
  hub.canDial = true
  expect(await rest(connection)).toBe('last')
  await expect(connection.ended).resolves.toMatchObject({ reason: 'exited', exitCode: 3 })
})

test('a sandbox that is killed is found as ended', async () => {
  const hub = start(echo)
  const connection = await hub.connect()
  hub.relay.kill('SIGTERM')
  await expect(connection.ended).resolves.toEqual({ reason: 'exited', exitCode: 143, diagnostics: 'found' })
})

test('kill ends the sandbox and is idempotent', async () => {
  const hub = start(echo)
  const connection = await hub.connect()
  await connection.kill()
  await connection.kill()
  await expect(connection.ended).resolves.toMatchObject({ reason: 'exited', exitCode: 137 })
  await hub.exitCode
})

test('a sandbox ends by itself after its lease, and pings of its owner keep it alive', async () => {
  const lease = 2
  const hub = start(echo, lease)
  const connection = await hub.connect({ timings: { pingMs: 50 } })
  const began = performance.now()
  let pings = 0
  hub.toRelay = (bytes) => ((pings += 1), [bytes])
  // A test that was stopped for longer than the lease has lost its sandbox, and fails at once.
  const lost = connection.ended.then(({ reason }) => expect.fail(`the connection has ended: ${reason}`))
  const pinged = expect.poll(() => performance.now() - began).toBeGreaterThan(1_500 * lease)
  await Promise.race([pinged, lost])
  expect(pings).toBeGreaterThan(5)
  expect(hub.relay.exitCode).toBeNull()
  lost.catch(() => undefined)
  await connection.detach()
  await expect(hub.exitCode).resolves.toBe(124)
})

test('a connection that has fallen silent is closed and opened again', async () => {
  const hub = start(echo)
  const connection = await hub.connect({ timings: { pingMs: 50, silenceMs: 200 } })
  let isDead = true
  hub.fromRelay = (bytes) => (isDead ? [] : [bytes])
  await expect.poll(() => hub.dials).toBeGreaterThan(1)
  isDead = false
  expect((await roundTrip(connection, Buffer.from('again'))).toString()).toBe('again')
})

test('a connection that can not be opened again ends as disconnected', async () => {
  const hub = start(echo)
  const connection = await hub.connect({ timings: { reconnectMs: 200 } })
  hub.canDial = false
  hub.cut()
  await expect(connection.ended).resolves.toEqual({
    reason: 'disconnected',
    exitCode: null,
    diagnostics: '',
  })
  await expect(connection.send(Buffer.from('x'))).rejects.toMatchObject({ code: 'SANDBOX_LOST' })
})

test('a runner that reads nothing fails a send after its deadline', async () => {
  const hub = start('import time\ntime.sleep(60)')
  const connection = await hub.connect({ sendTimeoutMs: 300 })
  await expect(connection.send(Buffer.alloc(4_000_000))).rejects.toMatchObject({ code: 'SANDBOX_PROTOCOL' })
})

test('a program without a relay is unavailable', async () => {
  const hub = start(echo)
  hub.toRelay = () => []
  await expect(hub.connect({ timings: { helloTimeoutMs: 200 } })).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
})
