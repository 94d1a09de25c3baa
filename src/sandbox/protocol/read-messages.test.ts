import { describe, expect, it, onTestFinished } from 'vitest'
import { capturedCharacters, defaultLimits } from '../../common/run/limits.js'
import { encodeFrame, hostFrameBytes } from './frames.js'
import type { RunnerMessage, RunnerNetworkMessage } from './messages.js'
import { readMessages } from './read-messages.js'
import { runnerFrameLimits } from './runner-limits.js'

const limits = runnerFrameLimits(defaultLimits)
const encode = (message: unknown): Uint8Array => encodeFrame(message, hostFrameBytes)
const suspended = (args: unknown) => {
  return { type: 'suspended', step: 1, calls: [{ call: 1, tool: 'x', arguments: args }], wake_in: null, output: '' }
}

async function* chunks(...given: Uint8Array[]): AsyncGenerator<Uint8Array> {
  await Promise.resolve()
  yield* given
}

type Message = RunnerMessage | RunnerNetworkMessage

async function read(received: AsyncIterable<Uint8Array>, isExpectingMessage = true): Promise<Message[]> {
  const messages: Message[] = []
  const reading = { resume: false, isExpectingMessage: () => isExpectingMessage }
  for await (const message of readMessages(received, limits, reading)) messages.push(message)
  return messages
}

describe('readMessages', () => {
  it('readMessages reads the largest messages of an honest runner', async () => {
    const largest = [
      suspended({ rows: Array.from({ length: 125_000 }, () => 1) }),
      { type: 'completed', step: 1, output: '\u0001'.repeat(capturedCharacters) },
      { type: 'snapshot', step: 1, fence: [1, 1, 1], piece: 0, text: 'A'.repeat(limits.bytes / 4), last: true },
    ]
    const messages = await read(chunks(...largest.map(encode)))
    expect(messages.map(({ type }) => type)).toEqual(['suspended', 'completed', 'snapshot'])
  })

  it('readMessages makes the texts of a runner well-formed, but not the arguments of calls', async () => {
    const half = '\ud83d'
    const [first, second] = await read(
      chunks(
        encode({ type: 'failed', kind: 'code_error', step: 1, output: half, error: `a${half}` }),
        encode(suspended({ id: half })),
      ),
    )
    expect(first).toMatchObject({ output: '\ufffd', error: 'a\ufffd' })
    expect(second).toMatchObject({ calls: [{ arguments: { id: half } }] })
  })

  it('readMessages leaves out invalid masks of floats, and keeps the call', async () => {
    const deep = JSON.parse(`${'{"*":'.repeat(300)}1${'}'.repeat(300)}`) as unknown
    for (const floats of [deep, 2, [1], 'x']) {
      const message = { ...suspended({ n: 1 }), calls: [{ call: 1, tool: 'x', arguments: { n: 1 }, floats }] }
      const [received] = await read(chunks(encode(message)))
      expect(received).toMatchObject({ calls: [{ arguments: { n: 1 }, floats: undefined }] })
    }
  })

  it.each([
    ['more structure than calls can have', `{"a":[${'[],'.repeat(500_000)}0]}`],
    ['arguments nested without end', `{"a":${'['.repeat(6_000)}${']'.repeat(6_000)}}`],
  ])('readMessages refuses %s before it is parsed', async (_what, json) => {
    const frame = encode(suspended('#'))
    const body = Buffer.from(Buffer.from(frame).toString().slice(4).replace('"#"', json))
    const header = Buffer.alloc(4)
    header.writeUInt32BE(body.length)
    await expect(read(chunks(header, body))).rejects.toMatchObject({
      code: 'SANDBOX_PROTOCOL',
      message: expect.stringMatching(/^the sandbox sent a frame that (has|is nested) more than/),
    })
  })

  it('readMessages does not parse frames while no message is expected', async () => {
    expect(await read(chunks(encode({ type: 'nonsense' }), encode(suspended({}))), false)).toEqual([])
  })

  it('readMessages lets timers run between any two large frames, over all sandboxes', async () => {
    const frame = encode(suspended({ rows: Array.from({ length: 50_000 }, () => 1) }))
    let turns = 0
    const timer = setInterval(() => (turns += 1), 0)
    onTestFinished(() => clearInterval(timer))
    const readers = Array.from({ length: 4 }, () => read(chunks(...Array.from({ length: 5 }, () => frame))))
    const messages = await Promise.all(readers)
    expect(messages.flat()).toHaveLength(20)
    expect(turns).toBeGreaterThan(10)
  })

  it('readMessages lets timers run between small frames in chunks of any size', async () => {
    let inThisTurn = 0
    let most = 0
    const timer = setInterval(() => (inThisTurn = 0), 0)
    onTestFinished(() => clearInterval(timer))
    const chunk = Buffer.concat(Array.from({ length: 200 }, () => encode({ type: 'interrupted' })))
    const received = chunks(...Array.from({ length: 200 }, () => chunk))
    const reading = { resume: false, isExpectingMessage: () => true }
    for await (const { type } of readMessages(received, limits, reading)) {
      expect(type).toBe('interrupted')
      most = Math.max(most, (inThisTurn += 1))
    }
    expect(most).toBeLessThan(4_000)
  })

  it('readMessages slows down a flood when its burst is used up', async () => {
    let given = 0
    const flood = Buffer.concat(Array.from({ length: 30 }, () => encode({ type: 'output', step: 9, text: '' })))
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        given += 1
        yield await Promise.resolve(flood)
      }
    }
    const messages = readMessages(endless(), limits, { resume: false, isExpectingMessage: () => true })
    const begun = performance.now()
    while (performance.now() - begun < 300) await messages.next()
    await messages.return()
    // The limit is 16 million per second and a burst of 64 million, and a chunk costs about 52,000. Without the limit,
    // thousands of chunks arrive.
    const seconds = (performance.now() - begun) / 1_000
    expect(given).toBeGreaterThan(10)
    expect(given).toBeLessThan(1_300 + 320 * seconds)
  })
})
