import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PtcError } from '../../src/common/errors.js'
import { capturedCharacters, defaultLimits } from '../../src/common/run/limits.js'
import type { StepResult } from '../../src/common/session/steps.js'
import type { SandboxConnection, SandboxEnd } from '../../src/sandbox/backend.js'
import { FrameDecoder, parseFrame } from '../../src/sandbox/protocol/frames.js'
import { runnerMessageSchema } from '../../src/sandbox/protocol/messages.js'
import { checkStructure } from '../../src/sandbox/protocol/read-messages.js'
import { runnerFrameLimits } from '../../src/sandbox/protocol/runner-limits.js'
import { SessionDriver } from '../../src/sandbox/session/session-driver.js'
import { describeDocker } from '../support/docker/describe-docker.js'
import type { Backend } from '../support/environment/backends.js'
import { Random } from '../support/random.js'
import { monitorEventLoopDelay } from '../support/faults/event-loop-delay.js'
import { tool } from '../support/tools.js'
import { createRegistry } from '../../src/tools/registry.js'
import { describeStepResult } from '../../src/activities/session/describe-step-result.js'
import { LocalStore } from '../../src/values/local/local-store.js'
import { Values } from '../../src/values/values.js'
import { TestEnvironment } from '../support/environment/test-environment.js'
import {
  expectUnaffected,
  BystanderRun,
  maxStallMs,
  shortHeartbeats,
  disableHeartbeatThread,
} from './support/bystander-run.js'
import { largeFrame, mutatedFrame } from './support/frame-mutations.js'

/** Fixed seeds: each once found a defect, or stands for a kind of defect. PTC_FUZZ_SEEDS=7,8,9 tries others. */
const seeds = (process.env['PTC_FUZZ_SEEDS'] ?? '1,2,3,5,8,13,20261121,4294967295').split(',').map(Number)
const rounds = 300
const frameBytes = 100_000
const { structuralBytes } = runnerFrameLimits(defaultLimits)

/** Expects one of the typed results that the driver may report for a fuzzed runner. */
function expectTyped(result: StepResult): void {
  expect(['suspended', 'completed', 'failed', 'lost']).toContain(result.type)
  if (result.type !== 'suspended') return
  for (const { index, tool, arguments: args } of result.calls) {
    expect(Number.isSafeInteger(index) && index >= 1, 'index').toBe(true)
    expect(typeof tool, 'tool').toBe('string')
    expect(Object.getPrototypeOf(args), 'arguments').toBe(Object.prototype)
  }
}

/** A connection that sends these chunks after it has received input, and then ends. */
class FuzzedRunner implements SandboxConnection {
  readonly description = 'fuzzed'
  readonly received: AsyncIterable<Uint8Array>
  readonly ended: Promise<SandboxEnd>
  #onInput: () => void = () => undefined

  constructor(chunks: readonly Uint8Array[]) {
    const input = new Promise<void>((resolve) => (this.#onInput = resolve))
    let end: () => void = () => undefined
    this.ended = new Promise<void>((resolve) => (end = resolve)).then(() => ({
      reason: 'exited',
      exitCode: 0,
      diagnostics: '',
    }))
    this.received = (async function* sendChunks() {
      await input
      try {
        yield* chunks
      } finally {
        end()
      }
    })()
  }

  async send(): Promise<void> {
    await Promise.resolve()
    this.#onInput()
  }

  interrupt = (): Promise<boolean> => Promise.resolve(false)
  kill = (): Promise<void> => Promise.resolve()
  detach = (): Promise<void> => Promise.resolve()
}

function fuzzedChunks(random: Random): Uint8Array[] {
  const bytes = Buffer.concat(Array.from({ length: 1 + random.below(6) }, () => mutatedFrame(random)))
  const chunks: Uint8Array[] = []
  for (let at = 0; at < bytes.length;) {
    const size = 1 + random.below(random.below(3) === 0 ? 3 : 5_000)
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}

describe('B08 fuzzing', () => {
  it.each(seeds)('B08 fuzzed frames parse to messages or to one typed error (seed %i)', (seed) => {
    const random = new Random(seed)
    let messages = 0
    let refused = 0
    for (let round = 0; round < rounds; round += 1) {
      const decoder = new FrameDecoder(frameBytes, { resume: random.below(2) === 0 })
      try {
        for (const piece of fuzzedChunks(random)) {
          for (const body of decoder.push(piece)) {
            checkStructure(body, structuralBytes)
            messages += runnerMessageSchema.safeParse(parseFrame(body)).success ? 1 : 0
          }
        }
      } catch (thrown) {
        refused += 1
        expect(PtcError.isInstance(thrown), String(thrown)).toBe(true)
      }
    }
    // The test proves nothing when all frames of the fuzzer are valid, or all invalid.
    expect(messages).toBeGreaterThan(rounds / 10)
    expect(refused).toBeGreaterThan(rounds / 10)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it.each(seeds)('B08 fuzzed runners end each step with a typed result (seed %i)', async (seed) => {
    const random = new Random(seed)
    const kinds = new Set<string>()
    for (let round = 0; round < rounds; round += 1) {
      const driver = new SessionDriver(new FuzzedRunner(fuzzedChunks(random)), {
        session: 's',
        epoch: 1,
        seed: 1,
        startedAt: 0,
        tools: [],
        limits: defaultLimits,
        resume: random.below(2) === 0,
      })
      const step = { number: 1, now: 0, input: { type: 'cell', cell: 1, source: '' } } as const
      const answer = await driver.executeStep(step, {
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
    expect([...kinds]).toEqual(expect.arrayContaining(['completed', 'failed', 'suspended', 'protocol', 'exited']))
  })
})

disableHeartbeatThread()

const readLargeFrames = (backend: Backend): void => {
  const bystanders = new BystanderRun()
  const folder = mkdtempSync(join(tmpdir(), 'ptc-fuzz-'))
  const values = new Values({ store: new LocalStore(folder) })
  const registry = createRegistry([tool('get', () => null)])
  let env: TestEnvironment
  let end = (): Promise<void> => Promise.resolve()
  beforeAll(async () => {
    const onCleanup = (given: () => Promise<void>): void => void (end = given)
    env = await TestEnvironment.start({
      backend,
      tools: bystanders.tools,
      timeouts: shortHeartbeats,
      onCleanup,
    })
  })
  afterAll(async () => {
    await end()
    rmSync(folder, { recursive: true })
  })

  /** Reads these frames in the same way as the activity of a step. */
  async function readFrame(frame: Buffer): Promise<string> {
    const { signal } = new AbortController()
    const about = { session: 's', epoch: 1, seed: 1, startedAt: 0, tools: [], limits: defaultLimits, resume: false }
    const driver = new SessionDriver(new FuzzedRunner([frame]), about)
    const step = { number: 1, now: 0, input: { type: 'cell', cell: 1, source: '' } } as const
    const readValue = (): never => {
      throw new Error('no step refers to a value')
    }
    const result = await driver.executeStep(step, { attempt: 1, onOutput: () => undefined, readValue })
    expectTyped(result)
    const describing = { registry, registryMatchesRun: true, values, limits: defaultLimits, signal }
    await describeStepResult(result, describing, capturedCharacters)
    await driver.detach()
    return result.type
  }

  it(`B08 fuzzed frames of the full size delay no other run and no attempt (seeds ${seeds.join(', ')})`, async () => {
    const types = [
      'suspended',
      'output',
      'suspended',
      'completed',
      'suspended',
      'failed',
      'suspended',
      'snapshot',
    ] as const
    const seen = await bystanders.runDuring(env, async () => {
      const answered = new Set<string>()
      for (const seed of seeds) {
        const random = new Random(seed)
        for (const type of types) {
          const frame = largeFrame(random, type)
          // Generating a frame may take longer than reading it.
          await setImmediate()
          const stalls = monitorEventLoopDelay()
          answered.add(await readFrame(frame))
          expect(stalls.stop().maxDelayMs, `seed ${seed}: ${frame.subarray(4, 200).toString()}`).toBeLessThan(
            maxStallMs,
          )
        }
      }
      return answered
    })
    expect([...seen.workResult]).toEqual(expect.arrayContaining(['suspended', 'completed', 'failed']))
    expectUnaffected(seen)
  })
}

describeDocker('B08 fuzzed frames of the full size, beside a container', () => readLargeFrames('docker'))
describe('B08 fuzzed frames of the full size, beside an embedded sandbox', () => readLargeFrames('wasm'))
