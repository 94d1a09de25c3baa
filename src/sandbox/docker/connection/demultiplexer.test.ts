import { expect, test } from 'vitest'
import { Demultiplexer } from './demultiplexer.js'

function frame(stream: number, payload: string | Uint8Array): Buffer {
  const body = Buffer.from(payload)
  const header = Buffer.alloc(8)
  header.writeUInt8(stream, 0)
  header.writeUInt32BE(body.length, 4)
  return Buffer.concat([header, body])
}

/** Feeds chunks and returns the output as two texts. */
function demultiplex(chunks: readonly Uint8Array[]): { stdout: string; stderr: string; partial: boolean } {
  const demultiplexer = new Demultiplexer()
  const pieces = chunks.map((chunk) => demultiplexer.push(chunk))
  const join = (of: 'stdout' | 'stderr') => Buffer.concat(pieces.map((piece) => piece[of])).toString()
  return { stdout: join('stdout'), stderr: join('stderr'), partial: demultiplexer.isPartial }
}

test('the demultiplexer separates stdout and stderr', () => {
  const bytes = Buffer.concat([frame(1, 'one '), frame(2, 'warning'), frame(1, 'two')])
  expect(demultiplex([bytes])).toEqual({ stdout: 'one two', stderr: 'warning', partial: false })
})

test('chunks of one byte give the same output as one chunk', () => {
  const bytes = Buffer.concat([frame(1, 'one '), frame(2, 'warning'), frame(1, ''), frame(1, 'two')])
  expect(demultiplex([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(demultiplex([bytes]))
})

test('a frame may be split over two chunks at any byte', () => {
  const bytes = Buffer.concat([frame(1, 'hello'), frame(2, 'world')])
  for (let at = 0; at <= bytes.length; at += 1) {
    expect(demultiplex([bytes.subarray(0, at), bytes.subarray(at)])).toEqual({
      stdout: 'hello',
      stderr: 'world',
      partial: false,
    })
  }
})

test('echoed stdin is stdout, and an error of the daemon is stderr, as in Docker itself', () => {
  expect(demultiplex([frame(0, 'in'), frame(3, 'daemon error')])).toMatchObject({
    stdout: 'in',
    stderr: 'daemon error',
  })
})

test('isPartial is true in the middle of a header and of a body', () => {
  expect(demultiplex([frame(1, 'hello').subarray(0, 5)]).partial).toBe(true)
  expect(demultiplex([frame(1, 'hello').subarray(0, 10)]).partial).toBe(true)
})

test('the demultiplexer returns an incomplete body without buffering it', () => {
  const demultiplexer = new Demultiplexer()
  const { stdout } = demultiplexer.push(frame(1, 'hello').subarray(0, 11))
  expect(Buffer.from(stdout).toString()).toBe('hel')
})

test('a single frame in a chunk is not copied', () => {
  const chunk = frame(1, 'hello')
  expect(new Demultiplexer().push(chunk).stdout.buffer).toBe(chunk.buffer)
})

test.each([
  ['a stream that does not exist', Buffer.from([4, 0, 0, 0, 0, 0, 0, 1])],
  ['padding that is not zero', Buffer.from([1, 0, 7, 0, 0, 0, 0, 1])],
  ['text instead of a header', Buffer.from('HTTP/1.1 200 OK')],
  ['a length of 4 GiB', Buffer.from([1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff])],
  ['a length of one byte over the limit', Buffer.from([1, 0, 0, 0, 1, 0, 0, 1])],
])('%s ends the stream with a protocol error', (_what, bytes) => {
  expect(() => new Demultiplexer().push(bytes)).toThrow(expect.objectContaining({ code: 'SANDBOX_PROTOCOL' }))
})

test('the demultiplexer accepts a length at the limit', () => {
  expect(() => new Demultiplexer().push(Buffer.from([1, 0, 0, 0, 1, 0, 0, 0]))).not.toThrow()
})

test('a million tiny frames in one chunk take linear time and do not overflow the stack', () => {
  const one = frame(1, 'x')
  const time = (count: number): number => {
    const bytes = Buffer.alloc(one.length * count, one)
    const begin = performance.now()
    expect(new Demultiplexer().push(bytes).stdout.length).toBe(count)
    return performance.now() - begin
  }
  time(10_000)
  const best = (count: number): number => Math.min(...[1, 2, 3].map(() => time(count)))
  const [few, many] = [best(100_000), best(1_000_000)]
  // Ten times the frames: a quadratic algorithm would take a hundred times as long.
  expect(many).toBeLessThan(Math.max(few, 5) * 40)
})

test('many empty frames give no output', () => {
  const bytes = Buffer.alloc(8 * 100_000, frame(1, ''))
  expect(demultiplex([bytes])).toEqual({ stdout: '', stderr: '', partial: false })
})

/** Deterministic random numbers (mulberry32). Add a seed that fails to the list below. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const seeds = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597]

test.each(seeds)('seed %i: random frames in random chunks come out complete and in order', (seed) => {
  const random = randomOf(seed)
  const expected = { stdout: '', stderr: '' }
  const frames = Array.from({ length: 200 }, (_, index) => {
    const text = `${index}${'-'.repeat(random(random(10) === 0 ? 5_000 : 20))};`
    const stream = 1 + random(2)
    expected[stream === 1 ? 'stdout' : 'stderr'] += text
    return frame(stream, text)
  })
  const bytes = Buffer.concat(frames)
  const chunks: Uint8Array[] = []
  for (let at = 0; at < bytes.length;) {
    const end = at + random(random(3) === 0 ? 4_000 : 12)
    chunks.push(bytes.subarray(at, end))
    at = end
  }
  expect(demultiplex(chunks)).toEqual({ ...expected, partial: false })
})

test.each(seeds)('seed %i: random bytes are a protocol error or are returned, and never multiplied', (seed) => {
  const random = randomOf(seed)
  for (let round = 0; round < 200; round += 1) {
    const bytes = Buffer.from(Array.from({ length: random(64) }, () => (random(2) === 0 ? random(5) : random(256))))
    const demultiplexer = new Demultiplexer()
    try {
      const { stdout, stderr } = demultiplexer.push(bytes)
      expect(stdout.length + stderr.length).toBeLessThanOrEqual(bytes.length)
    } catch (error) {
      expect(error).toMatchObject({ code: 'SANDBOX_PROTOCOL' })
    }
  }
})
