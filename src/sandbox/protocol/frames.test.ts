import { describe, expect, it } from 'vitest'
import { encodeFrame, FrameDecoder, hostFrameBytes, parseFrame } from './frames.js'

const limit = 1_000_000

function frame(body: string | Uint8Array): Buffer {
  const bytes = Buffer.from(body)
  const header = Buffer.alloc(4)
  header.writeUInt32BE(bytes.length)
  return Buffer.concat([header, bytes])
}

/** Returns the same sequence of random numbers on every machine. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Splits bytes into pieces of random size, some of them empty. */
function cutIntoPieces(bytes: Buffer, random: (below: number) => number): Buffer[] {
  const cut: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const size = random(10) === 0 ? random(bytes.length) : random(9)
    cut.push(bytes.subarray(at, at + size))
    at += size
  }
  return cut
}

describe('encodeFrame', () => {
  it('encodeFrame writes a length and this number of bytes of UTF-8', () => {
    expect(Buffer.from(encodeFrame({ é: '😀' }, limit))).toEqual(frame('{"é":"😀"}'))
  })

  it('encodeFrame writes no zero byte outside of the length', () => {
    const body = Buffer.from(encodeFrame({ text: 'a\u0000b\u0001', '\u0000': [0] }, limit)).subarray(4)
    expect(body.includes(0)).toBe(false)
  })

  it('encodeFrame rejects a message over the limit with a hint', () => {
    expect(() => encodeFrame('x'.repeat(99), 100)).toThrowError(
      expect.objectContaining({ code: 'LIMIT_EXCEEDED', message: 'a frame of 101 bytes is over the limit of 100' }),
    )
    expect(encodeFrame('x'.repeat(98), 100)).toHaveLength(104)
  })
})

describe('FrameDecoder', () => {
  const messages = [
    '',
    { a: [1, null, 'é😀\u0000'] },
    'x'.repeat(70_000),
    [],
    0,
    { type: 'output', text: '\u0000\u0000' },
  ]
  const wire = Buffer.concat(messages.map((message) => Buffer.from(encodeFrame(message, limit))))

  it.each([1, 2, 3, 4, 5, 7, 64, 65_536, wire.length])(
    'FrameDecoder decodes the same frames from pieces of %i bytes',
    (size) => {
      const decoder = new FrameDecoder(limit)
      const frames: unknown[] = []
      for (let at = 0; at < wire.length; at += size)
        frames.push(...decoder.push(wire.subarray(at, at + size)).map(parseFrame))
      expect(frames).toEqual(messages)
      expect(decoder.hasPartialFrame).toBe(false)
    },
  )

  it.each([1, 2, 3, 20, 4_711, 2_026_11_21])(
    'FrameDecoder decodes the same frames from pieces of random size (seed %i)',
    (seed) => {
      const decoder = new FrameDecoder(limit)
      const frames = cutIntoPieces(wire, randomNumbers(seed)).flatMap((piece) => decoder.push(piece).map(parseFrame))
      expect(frames).toEqual(messages)
    },
  )

  it.each([1, 7, 42, 99, 31_337])('FrameDecoder throws only its own error for random bytes (seed %i)', (seed) => {
    const random = randomNumbers(seed)
    for (let round = 0; round < 300; round += 1) {
      const decoder = new FrameDecoder(5_000, { resume: round % 2 === 0 })
      const bytes = Buffer.from(Array.from({ length: random(400) }, () => (random(3) === 0 ? 0 : random(256))))
      try {
        for (const piece of cutIntoPieces(bytes, random)) decoder.push(piece).forEach(parseFrame)
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: 'SANDBOX_PROTOCOL' })
      }
    }
  })

  it('FrameDecoder rejects a length over the limit before it buffers the body', () => {
    const decoder = new FrameDecoder(100)
    expect(() => decoder.push(Buffer.from([0, 0, 0, 101]))).toThrowError(
      expect.objectContaining({
        code: 'SANDBOX_PROTOCOL',
        message: 'the sandbox announced a frame of 101 bytes (limit 100)',
      }),
    )
    expect(() => new FrameDecoder(hostFrameBytes).push(Buffer.from([255, 255, 255, 255]))).toThrowError(/4294967295/)
  })

  it.each<[string, string | Uint8Array]>([
    ['nothing', ''],
    ['half a value', '{"type":'],
    ['two values', '{}{}'],
    ['bytes that are no UTF-8', Uint8Array.of(0x22, 0xff, 0xfe, 0x22)],
    ['a byte order mark', '\uFEFF{}x'],
  ])('FrameDecoder refuses a frame of %s', (_what, body) => {
    expect(new FrameDecoder(limit).push(frame(body))).toHaveLength(1)
    expect(() => parseFrame(Buffer.from(body))).toThrowError(
      expect.objectContaining({ code: 'SANDBOX_PROTOCOL', message: 'the sandbox sent a frame that is not JSON' }),
    )
  })

  it('FrameDecoder reports a partial frame', () => {
    const decoder = new FrameDecoder(limit)
    const bytes = frame('"ab"')
    const partial = [...bytes].map((byte) => {
      decoder.push(Uint8Array.of(byte))
      return decoder.hasPartialFrame
    })
    expect(partial).toEqual([true, true, true, true, true, true, true, false])
  })

  it('FrameDecoder decodes a large frame from tiny pieces in linear time', () => {
    const large = Buffer.from(encodeFrame('x'.repeat(4_000_000), 5_000_000))
    const decoder = new FrameDecoder(5_000_000)
    const begun = performance.now()
    const frames: unknown[] = []
    for (let at = 0; at < large.length; at += 64) frames.push(...decoder.push(large.subarray(at, at + 64)))
    expect(frames).toHaveLength(1)
    // A quadratic decoder takes minutes.
    expect(performance.now() - begun).toBeLessThan(30_000)
  })

  it('FrameDecoder decodes many tiny frames from one piece in linear time', () => {
    const one = frame('1')
    const many = Buffer.concat(Array.from({ length: 400_000 }, () => one))
    const begun = performance.now()
    expect(new FrameDecoder(limit).push(many)).toHaveLength(400_000)
    expect(performance.now() - begun).toBeLessThan(30_000)
  })
})

describe('a decoder that resumes', () => {
  const first = frame('{"text":"the frame that was under way"}')
  const second = frame('{"n":2}')

  it.each(Array.from({ length: first.length }, (_, index) => index + 1))(
    'a decoder that resumes skips the rest of a frame after %i bytes and finds the next frame',
    (lost) => {
      const decoder = new FrameDecoder(limit, { resume: true })
      expect(decoder.push(first.subarray(lost))).toEqual([])
      expect(decoder.push(second).map(parseFrame)).toEqual([{ n: 2 }])
    },
  )

  it('a decoder that resumes skips nothing when the connection begins with a frame', () => {
    const decoder = new FrameDecoder(limit, { resume: true })
    expect(decoder.push(Buffer.concat([second, first]))).toHaveLength(2)
  })

  it('a decoder that resumes skips any number of bytes without buffering them', () => {
    const decoder = new FrameDecoder(limit, { resume: true })
    for (let count = 0; count < 1_000; count += 1) expect(decoder.push(Buffer.alloc(10_000, 'x'))).toEqual([])
    expect(decoder.hasPartialFrame).toBe(false)
    expect(decoder.push(second).map(parseFrame)).toEqual([{ n: 2 }])
  })

  it('a decoder that resumes finds a frame with a header that arrives in parts', () => {
    const decoder = new FrameDecoder(limit, { resume: true })
    const bytes = Buffer.concat([first.subarray(20), second])
    expect([...bytes].flatMap((byte) => decoder.push(Uint8Array.of(byte)).map(parseFrame))).toEqual([{ n: 2 }])
  })
})
