import { setTimeout as delay } from 'node:timers/promises'
import { Context } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import type { SnapshotResult, SnapshotInput } from '../../../src/common/snapshots.js'
import type { ExecuteStepResult, ExecuteStepInput, DescribedCall, Step } from '../../../src/common/steps.js'
import type { InterruptInput, OpenedSession, SessionRef } from '../../../src/common/session.js'
import type { PlannedCell } from './plan.js'

/** Duration of a step in milliseconds; every ninth takes long enough to be interrupted. */
const stepMs = { usual: 5, long: 300 }

/** A sandbox is lost after this many steps. */
const lossEvery = 40

/** A snapshot can't be restored after this many rebuilds from it. */
const brokenSnapshotEvery = 3

/** Activities of a sandbox that runs the cells of a plan. It never dies, so a rebuild finds it unchanged. */
export class FakeSandboxes {
  readonly #sessions = new Map<string, FakeSession>()
  readonly #hostQueue: string
  #steps = 0
  #restored = 0

  constructor(hostQueue: string) {
    this.#hostQueue = hostQueue
  }

  open = ({ session }: { readonly session: SessionRef }): OpenedSession => ({
    session: { ...session, backend: 'fake' },
    hostQueue: this.#hostQueue,
    description: 'fake',
    // Both ways to park: with a checkpoint, and without.
    supportsCheckpoint: session.id.charCodeAt(0) % 2 === 0,
  })

  executeStep = async ({ session, step, recorded }: ExecuteStepInput): Promise<ExecuteStepResult> => {
    if (step === null) {
      if (recorded?.snapshot === undefined) return { type: 'rebuilt' }
      this.#restored += 1
      const isBroken = this.#restored % brokenSnapshotEvery === 0
      return isBroken ? { type: 'restore_failed', reason: 'the test broke it' } : { type: 'rebuilt' }
    }
    this.#steps += 1
    if (this.#steps % lossEvery === 0) return { type: 'lost', cause: 'gone', reason: 'the test lost it' }
    return this.#of(session).executeStep(step, this.#steps % 9 === 0 ? stepMs.long : stepMs.usual)
  }

  interrupt = ({ session, step }: InterruptInput): void => this.#of(session).interrupt(step)

  park = (session: SessionRef): boolean => session.epoch % 2 === 0

  snapshot = async ({ session: { id } }: SnapshotInput): Promise<SnapshotResult> => {
    await delay(50)
    if (id.charCodeAt(1) % 2 === 0) return { type: 'skipped', reason: 'the test has none' }
    return { type: 'stored', state: { sha256: '0'.repeat(64), bytes: 1, preview: '' } }
  }

  close = (): void => undefined

  #of({ id }: SessionRef): FakeSession {
    const session = this.#sessions.get(id) ?? new FakeSession()
    this.#sessions.set(id, session)
    return session
  }
}

/** The program of one session. */
class FakeSession {
  #rounds: PlannedCell = []
  #waitsFor: ReadonlySet<number> = new Set()
  #waitsForAll = true
  #lastIndex = 0
  #lastStep: { readonly step: string; readonly answer: ExecuteStepResult } | undefined
  #runningStep: { readonly number: number; readonly interrupt: AbortController } | undefined

  async executeStep(step: Step, ms: number): Promise<ExecuteStepResult> {
    const key = JSON.stringify([step.number, step.input])
    if (this.#lastStep?.step === key) return this.#lastStep.answer
    const interrupt = new AbortController()
    this.#runningStep = { number: step.number, interrupt }
    const began = Date.now()
    await delay(ms, undefined, { signal: interrupt.signal }).catch(() => undefined)
    this.#runningStep = undefined
    const answer: ExecuteStepResult = interrupt.signal.aborted
      ? { ...failed('stopped', 'KeyboardInterrupt'), interruptedAfterMs: Date.now() - began }
      : this.#resultOf(step)
    this.#lastStep = { step: key, answer }
    return answer
  }

  interrupt(step: number): void {
    if (this.#runningStep?.number !== step) throw ApplicationFailure.retryable(`step ${step} is not under way`)
    this.#runningStep.interrupt.abort()
  }

  #resultOf({ input }: Step): ExecuteStepResult {
    switch (input.type) {
      case 'stop':
        return failed('timed_out', input.reason)
      case 'cell':
        this.#rounds = JSON.parse(input.source as string) as PlannedCell
        return this.#next()
      case 'results': {
        const arrived = new Set(input.results.map(({ index }) => index))
        const open = new Set([...this.#waitsFor].filter((index) => !arrived.has(index)))
        const goesOn = open.size === 0 || (!this.#waitsForAll && open.size < this.#waitsFor.size)
        this.#waitsFor = open
        return goesOn ? this.#next() : suspended([])
      }
    }
  }

  #next(): ExecuteStepResult {
    const [round, ...rest] = this.#rounds
    this.#rounds = rest
    this.#waitsFor = new Set()
    if (round === undefined) return { type: 'completed', output: 'done\n' }
    if (round.type === 'sleep') return suspended([], round.ms)
    const calls = round.durations.map((ms) => describedCall((this.#lastIndex += 1), ms))
    this.#waitsFor = new Set(calls.map(({ index }) => index))
    this.#waitsForAll = round.waitsFor === 'all'
    return suspended(calls)
  }
}

function suspended(calls: readonly DescribedCall[], wakeInMs: number | null = null): ExecuteStepResult {
  return { type: 'suspended', calls, wakeInMs, output: '' }
}

function failed(kind: 'stopped' | 'timed_out', error: string): Extract<ExecuteStepResult, { type: 'failed' }> {
  return { type: 'failed', kind, error, output: '' }
}

/** A call of tool `work`. */
export function describedCall(index: number, ms: number): DescribedCall {
  return { index, tool: 'work', arguments: { ms }, summary: `work ${ms} ms`, digest: `${index}-${ms}`, refused: null }
}

/** Activity `work`. */
export async function work({ arguments: { ms } }: { readonly arguments: { readonly ms: number } }): Promise<null> {
  const { cancellationSignal } = Context.current()
  const beats = setInterval(() => Context.current().heartbeat(), 500)
  try {
    await delay(ms, undefined, { signal: cancellationSignal })
    return null
  } finally {
    clearInterval(beats)
  }
}
