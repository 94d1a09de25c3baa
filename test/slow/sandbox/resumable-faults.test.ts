import { afterEach, expect, test } from 'vitest'
import type { ResumableConnection } from '../../../src/sandbox/resumable/index.js'
import {
  type Change,
  echo,
  endRelays,
  randomBytes,
  randomOf,
  type RelayHub,
  rest,
  roundTrip,
  startRelay,
  unchanged,
} from '../../support/sandbox/relay-hub.js'

afterEach(endRelays)

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
  const hub = startRelay(echo)
  hub.toRelay = faults[name]?.(random) ?? unchanged
  hub.fromRelay = faults[name]?.(random) ?? unchanged
  const connection = await hub.connect()
  expect((await roundTrip(connection, bytes)).equals(bytes)).toBe(true)
})

test('all bytes arrive over connections that break again and again', async () => {
  const random = randomOf(3)
  const bytes = randomBytes(random, 2_000_000)
  const hub = startRelay(echo)
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
async function connectAgain(hub: RelayHub): Promise<ResumableConnection> {
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
  const hub = startRelay(
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

test('the newest of two owners counts, and the older one learns it', async () => {
  const hub = startRelay(echo)
  const [first, other] = [await hub.connect(), await hub.connect()]
  await expect(first.ended).resolves.toMatchObject({ reason: 'replaced' })
  await expect(first.send(Buffer.from('from the first'))).rejects.toMatchObject({ code: 'SANDBOX_LOST' })
  expect((await roundTrip(other, Buffer.from('from the other'))).toString()).toBe('from the other')
})

test('of two owners whose hellos the relay reads at once, the later one counts', async () => {
  const hub = startRelay(echo)
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
  const hub = startRelay(echo)
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
  const hub = startRelay(echo)
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
  const hub = startRelay(echo)
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
