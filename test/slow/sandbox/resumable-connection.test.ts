import { afterEach, expect, test } from 'vitest'
import {
  echo,
  endRelays,
  randomBytes,
  randomOf,
  rest,
  roundTrip,
  startRelay,
  take,
  unchanged,
} from '../../support/sandbox/relay-hub.js'

afterEach(endRelays)

test('bytes of all values arrive once and in order, in both directions', async () => {
  const bytes = randomBytes(randomOf(1), 3_000_000)
  const connection = await startRelay(echo).connect()
  expect((await roundTrip(connection, bytes)).equals(bytes)).toBe(true)
})

test('what the runner writes while nobody is attached arrives later', async () => {
  const hub = startRelay("import os\nos.write(1, b'early ')\nos.read(0, 1)\nos.write(1, b'late')\nos.read(0, 1)")
  const first = await hub.connect()
  expect((await take(first, 6)).toString()).toBe('early ')
  await first.send(Buffer.from('x'))
  await first.detach()
  await expect(first.ended).resolves.toMatchObject({ reason: 'disconnected' })
  const second = await hub.connect()
  expect((await take(second, 4)).toString()).toBe('late')
})

test('a reader that stalls stops the runner, and not the connection', async () => {
  const hub = startRelay(
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
  const hub = startRelay(
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
  const hub = startRelay(`import os\nout = b'0123456789' * ${length / 10}\nwhile out: out = out[os.write(1, out):]`)
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
    const hub = startRelay(['/bin/sleep', '3600'])
    const connection = await hub.connect({ timings: { helloRepeatMs: 5 } })
    await expect(connection.interrupt()).resolves.toBe(true)
    await expect(connection.ended).resolves.toMatchObject({ reason: 'exited', exitCode: 130 })
  }
})

test.each([0, 5])('the last bytes and the exit code %i of a runner that exits at once arrive', async (code) => {
  for (let round = 0; round < 10; round += 1) {
    const hub = startRelay(
      `import os\nos.read(0, 1)\nos.write(1, b'last' * 10_000)\nos.write(2, b'why')\nos._exit(${code})`,
    )
    const connection = await hub.connect()
    await connection.send(Buffer.from('x'))
    expect(await rest(connection)).toBe('last'.repeat(10_000))
    await expect(connection.ended).resolves.toEqual({ reason: 'exited', exitCode: code, diagnostics: 'why' })
    await expect(hub.exitCode).resolves.toBe(code)
  }
})

test('a runner that exits while the connection is broken is reported over the next one', async () => {
  const hub = startRelay("import os\nos.read(0, 1)\nos.write(1, b'last')\nos._exit(3)")
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
  const hub = startRelay(echo)
  const connection = await hub.connect()
  hub.relay.kill('SIGTERM')
  await expect(connection.ended).resolves.toEqual({ reason: 'exited', exitCode: 143, diagnostics: 'found' })
})

test('kill ends the sandbox and is idempotent', async () => {
  const hub = startRelay(echo)
  const connection = await hub.connect()
  await connection.kill()
  await connection.kill()
  await expect(connection.ended).resolves.toMatchObject({ reason: 'exited', exitCode: 137 })
  await hub.exitCode
})

test('a sandbox ends by itself after its lease, and pings of its owner keep it alive', async () => {
  const lease = 2
  const hub = startRelay(echo, lease)
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
  const hub = startRelay(echo)
  const connection = await hub.connect({ timings: { pingMs: 50, silenceMs: 200 } })
  let isDead = true
  hub.fromRelay = (bytes) => (isDead ? [] : [bytes])
  await expect.poll(() => hub.dials).toBeGreaterThan(1)
  isDead = false
  expect((await roundTrip(connection, Buffer.from('again'))).toString()).toBe('again')
})

test('a connection that can not be opened again ends as disconnected', async () => {
  const hub = startRelay(echo)
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
  const hub = startRelay('import time\ntime.sleep(60)')
  const connection = await hub.connect({ sendTimeoutMs: 300 })
  await expect(connection.send(Buffer.alloc(4_000_000))).rejects.toMatchObject({ code: 'SANDBOX_PROTOCOL' })
})

test('a program without a relay is unavailable', async () => {
  const hub = startRelay(echo)
  hub.toRelay = () => []
  await expect(hub.connect({ timings: { helloTimeoutMs: 200 } })).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
})
