import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { SandboxBackend } from '../../../src/sandbox/backend.js'
import { SessionHarness } from '../../../src/sandbox/conformance/session-harness.js'
import { createDockerBackend } from '../../../src/sandbox/docker/index.js'
import { createWasmBackend } from '../../../src/sandbox/wasm/index.js'
import type { DeliveredResult, RequestedCall, StepResult, StepInput } from '../../../src/common/session/steps.js'
import { backends } from '../../support/environment/backends.js'
import { type Program, programs, programsWithProcesses } from './typical-programs.js'

const createBackend = {
  docker: () => createDockerBackend(),
  wasm: () => createWasmBackend({ warm: 0 }),
}

/** A step in the form in which it was sent: its time, its program and its content. */
interface SentStep {
  readonly name: string
  readonly now: number
  readonly input: StepInput
}

describe.each(backends)('programs as models write them, in %s', (name) => {
  it('typical programs make the same calls and print the same output in a rebuild', async () => {
    const backend = createBackend[name]()
    try {
      const all = name === 'docker' ? [...programs, ...programsWithProcesses] : programs
      const session = { id: `programs-${randomUUID()}`, backend: name, startedAt: Date.now() }
      const [journal, stepResults] = await withSandbox(backend, { ...session, epoch: 1 }, (harness) =>
        record(harness, all),
      )
      const again = await withSandbox(backend, { ...session, epoch: 2 }, (harness) => repeat(harness, journal))
      expect(withoutThreadTiming(again)).toEqual(withoutThreadTiming(stepResults))
      const ends = stepResults
        .filter(([, { type }]) => type !== 'suspended')
        .map(([of, answer]) => [of, answer.type, answer])
      expect(ends.filter(([of, type]) => type !== 'completed' && of !== 'state across cells')).toEqual([])
      expect(stepResults.length).toBeGreaterThan(5 * all.length)
    } finally {
      await backend.close()
    }
  })
})

async function withSandbox<T>(
  backend: SandboxBackend,
  session: SessionHarness['session'],
  work: (harness: SessionHarness) => Promise<T>,
): Promise<T> {
  const harness = await new SessionHarness(backend, {}, session).open()
  try {
    return await work(harness)
  } finally {
    await harness.close()
  }
}

type StepResults = readonly (readonly [name: string, answer: StepResult])[]

const threaded = new Set(programsWithProcesses.map(([name]) => name))

/**
 * Removes results that depend on the timing of a thread. While a thread runs during an open call, the runner requests
 * timers. Whether the thread has ended when one fires is a race, and a rebuild does not compare it.
 */
function withoutThreadTiming(stepResults: StepResults): StepResults {
  return stepResults.map(([name, answer]) =>
    threaded.has(name) && answer.type === 'suspended' ? [name, { ...answer, wakeInMs: null }] : [name, answer],
  )
}

/** Runs programs sequentially in one session. Results arrive late and in random order. */
async function record(harness: SessionHarness, all: readonly Program[]): Promise<[readonly SentStep[], StepResults]> {
  const journal: SentStep[] = []
  const stepResults: [string, StepResult][] = []
  const open: RequestedCall[] = []
  const draw = pseudoRandom()
  for (const [name, cells] of all) {
    const send = async (input: StepInput): Promise<StepResult> => {
      journal.push({ name, now: harness.now, input })
      const answer = await harness.executeStep(input)
      stepResults.push([name, answer])
      return answer
    }
    for (const source of cells) {
      harness.cell += 1
      let answer = await send({ type: 'cell', cell: harness.cell, source })
      while (answer.type === 'suspended') {
        open.push(...answer.calls)
        const isTime = answer.wakeInMs !== null && (open.length === 0 || draw(5) === 0)
        harness.now += isTime ? Math.ceil(answer.wakeInMs ?? 0) : 3 + draw(300)
        const results = isTime ? [] : Array.from({ length: 1 + draw(Math.min(3, open.length)) }, () => take(open, draw))
        answer = await send({ type: 'results', results })
      }
      harness.now += 5_000
    }
  }
  return [journal, stepResults]
}

/** Repeats the same steps at the same times, for any responses. */
async function repeat(harness: SessionHarness, journal: readonly SentStep[]): Promise<StepResults> {
  const stepResults: [string, StepResult][] = []
  for (const { name, now, input } of journal) {
    harness.now = now
    stepResults.push([name, await harness.executeStep(input)])
  }
  return stepResults
}

function take(open: RequestedCall[], draw: (below: number) => number): DeliveredResult {
  const [call] = open.splice(draw(open.length), 1)
  if (call === undefined) throw new Error('a program waits for neither a call nor a timer')
  return { index: call.index, outcome: { status: 'ok', value: call.arguments } }
}

/** Pseudo-random numbers, always the same. */
function pseudoRandom(): (below: number) => number {
  let state = 7
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
}
