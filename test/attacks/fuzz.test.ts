import { describe, expect, it } from 'vitest'
import { PtcError } from '../../src/common/errors.js'
import { defaultLimits } from '../../src/common/limits.js'
import type { StepAnswer } from '../../src/common/steps.js'
import type { SandboxConnection, SandboxEnd } from '../../src/sandbox/backend.js'
import { FrameDecoder } from '../../src/sandbox/protocol/frames.js'
import { runnerMessage } from '../../src/sandbox/protocol/messages.js'
import { SessionDriver } from '../../src/sandbox/session-driver.js'
import { mutatedFrame } from './mutations.js'
import { Random } from '../support/random.js'

/** Kept: each of them once found something, or stands for a kind of it. PTC_FUZZ_SEEDS=7,8,9 tries others. */
const seeds = (process.env['PTC_FUZZ_SEEDS'] ?? '1,2,3,5,8,13,20261121,4294967295').split(',').map(Number)
const rounds = 300
const limits = { ...defaultLimits, frameBytes: 100_000 }

/** Everything that may be said of a fuzzed runner, and nothing that is no answer. */
function expectTyped(answer: StepAnswer): void {
  expect(['suspended', 'completed', 'failed', 'lost']).toContain(answer.type)
  if (answer.type !== 'suspended') return
  for (const { index, tool, arguments: args } of answer.calls) {
    expect(Number.isSafeInteger(index) && index >= 1, 'index').toBe(true)
    expect(typeof tool, 'tool').toBe('string')
    expect(Object.getPrototypeOf(args), 'arguments').toBe(Object.prototype)
  }
}

/** Says these bytes once it has been spoken to, in pieces, and ends. */
class FuzzedRunner implements SandboxConnection {
  readonly description = 'fuzzed'
  readonly received: AsyncIterable<Uint8Array>
  readonly ended: Promise<SandboxEnd>
  #spokenTo: () => void = () => undefined

  constructor(pieces: readonly Uint8Array[]) {
    const asked = new Promise<void>((resolve) => (this.#spokenTo = resolve))
    let said: () => void = () => undefined
    this.ended = new Promise<void>((resolve) => (said = resolve)).then(() => ({
      reason: 'exited',
      exitCode: 0,
      diagnostics: '',
    }))
    this.received = (async function* say() {
      await asked
      try {
        yield* pieces
      } finally {
        said()
      }
    })()
  }

  async send(): Promise<void> {
    await Promise.resolve()
    this.#spokenTo()
  }

  interrupt = (): Promise<boolean> => Promise.resolve(false)
  kill = (): Promise<void> => Promise.resolve()
  detach = (): Promise<void> => Promise.resolve()
}

function conversation(random: Random): Uint8Array[] {
  const bytes = Buffer.concat(Array.from({ length: 1 + random.below(6) }, () => mutatedFrame(random)))
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length;) {
    const size = 1 + random.below(random.below(3) === 0 ? 3 : 5_000)
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return pieces
}

describe('B08 fuzzed', () => {
  it.each(seeds)('frames give messages or one typed error (seed %i)', (seed) => {
    const random = new Random(seed)
    let messages = 0
    let refused = 0
    for (let round = 0; round < rounds; round += 1) {
      const decoder = new FrameDecoder(limits.frameBytes, { resume: random.below(2) === 0 })
      try {
        for (const piece of conversation(random)) {
          for (const frame of decoder.push(piece)) messages += runnerMessage.safeParse(frame).success ? 1 : 0
        }
      } catch (thrown) {
        refused += 1
        expect(PtcError.isInstance(thrown) || thrown instanceof RangeError, String(thrown)).toBe(true)
      }
    }
    // A fuzzer that is never understood, or always, tries nothing.
    expect(messages).toBeGreaterThan(rounds / 10)
    expect(refused).toBeGreaterThan(rounds / 10)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it.each(seeds)('runners end each step with a typed answer (seed %i)', async (seed) => {
    const random = new Random(seed)
    const kinds = new Set<string>()
    for (let round = 0; round < rounds; round += 1) {
      const driver = new SessionDriver(new FuzzedRunner(conversation(random)), {
        session: 's',
        epoch: 1,
        seed: 1,
        tools: [],
        limits,
        resume: random.below(2) === 0,
      })
      const step = { number: 1, now: 0, input: { type: 'cell', cell: 1, source: '' } } as const
      const answer = await driver.advance(step, {
        attempt: 1,
        onOutput: (text) => expect(typeof text).toBe('string'),
        readValue: () => {
          throw new Error('no step refers to a value')
        },
      })
      expectTyped(answer)
      kinds.add(answer.type === 'lost' ? answer.cause : answer.type)
      await driver.detach()
    }
    expect([...kinds]).toEqual(expect.arrayContaining(['completed', 'failed', 'suspended', 'protocol', 'gone']))
  })
})
