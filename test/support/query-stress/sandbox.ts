import { setTimeout as delay } from 'node:timers/promises'
import { Context } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import type { SnapshotResult, SnapshotInput } from '../../../src/common/session/snapshots.js'
import type { FollowedCall, ToolActivityInput } from '../../../src/common/calls/call-activities.js'
import type {
  DeliveredResult,
  DescribedCall,
  DescribedStepResult,
  ExecuteStepInput,
  FollowUpStep,
  Step,
  StepActivityResult,
} from '../../../src/common/session/steps.js'
import type { InterruptInput, OpenedSession, SessionRef } from '../../../src/common/session/session.js'
import type { PlannedCell } from './plan.js'

/** Duration of a step in milliseconds; every ninth takes long enough to be interrupted. */
const stepMs = { usual: 5, long: 300 }

/** A sandbox is lost after this many steps. */
const lossEvery = 40

/** One in this many follow-up steps takes longer than its activity waits. */
const unfinishedEvery = 7

/** A snapshot can't be restored after this many rebuilds from it. */
const brokenSnapshotEvery = 3

type SessionKey = Pick<SessionRef, 'id' | 'epoch'>

/** Activities of a sandbox that runs the cells of a plan. It never dies, so a rebuild finds it unchanged. */
export class FakeSandboxes {
  readonly #sessions = new Map<string, FakeSession>()
  #steps = 0
  #restored = 0
  #followUpSteps = 0

  open =
    (hostQueue: string) =>
    ({ session }: { readonly session: SessionRef }): OpenedSession => ({
      session,
      hostQueue,
      description: 'fake',
      // Covers both ways to park: with a checkpoint, and without.
      supportsCheckpoint: session.id.charCodeAt(0) % 2 === 0,
    })

  executeStep = async ({ session, step, recorded, localCalls }: ExecuteStepInput): Promise<StepActivityResult> => {
    if (step === null) {
      if (recorded?.snapshot === undefined) return { type: 'rebuilt' }
      this.#restored += 1
      const isBroken = this.#restored % brokenSnapshotEvery === 0
      return isBroken ? { type: 'restore_failed', reason: 'the test broke it' } : { type: 'rebuilt' }
    }
    const result = await this.#executeNewStep(session, step)
    if (localCalls === undefined) return result
    return { ...result, followUps: await this.#followUps(session, step, await callLocally(result)) }
  }

  /** Activity `work`, and `look` when no follow-up step has called it. */
  call = async ({ arguments: { ms }, position, followUp }: ToolActivityInput): Promise<FollowedCall | null> => {
    await work(Number(ms))
    if (followUp === undefined) return null
    const { session, step, now } = followUp
    const results = [{ index: position.index, outcome: { status: 'ok', value: null } }] as const
    const [first, ...others] = await this.#followUps(session, { number: step - 1, now }, results)
    if (first?.result === undefined) return { value: null, followUps: [] }
    const { results: _resultOfThisCall, ...withoutResults } = first
    return { value: null, followUps: [withoutResults, ...others] }
  }

  interrupt = ({ session, step }: InterruptInput): void => this.#of(session).interrupt(step)

  park = (session: SessionRef): boolean => session.epoch % 2 === 0

  snapshot = async ({ session: { id } }: SnapshotInput): Promise<SnapshotResult> => {
    await delay(50)
    if (id.charCodeAt(1) % 2 === 0) return { type: 'skipped', reason: 'the test has none' }
    return { type: 'stored', state: { sha256: '0'.repeat(64), bytes: 1, preview: '' } }
  }

  close = (): void => undefined

  async #executeNewStep(session: SessionKey, step: Step): Promise<DescribedStepResult> {
    this.#steps += 1
    if (this.#steps % lossEvery === 0) return { type: 'lost', cause: 'gone', reason: 'the test lost it' }
    const ms = this.#steps % 9 === 0 ? stepMs.long : stepMs.usual
    return this.#of(session).executeStep(session.epoch, step, ms)
  }

  /** Runs follow-up steps like the worker of a sandbox. One in {@link unfinishedEvery} takes too long. */
  async #followUps(
    session: SessionKey,
    after: { readonly number: number; readonly now: number },
    firstResults: readonly DeliveredResult[] | undefined,
  ): Promise<readonly FollowUpStep[]> {
    const steps: FollowUpStep[] = []
    for (let results = firstResults; results !== undefined;) {
      const times = { number: after.number + steps.length + 1, now: after.now + steps.length, waited: 1 }
      const execution = this.#executeNewStep(session, { ...times, input: { type: 'results', results } })
      this.#followUpSteps += 1
      if (this.#followUpSteps % unfinishedEvery === 0) return [...steps, { ...times, results }]
      const result = await execution
      steps.push({ ...times, results, result })
      results = await callLocally(result)
    }
    return steps
  }

  #of({ id }: SessionKey): FakeSession {
    const session = this.#sessions.get(id) ?? new FakeSession()
    this.#sessions.set(id, session)
    return session
  }
}

interface ProgramState {
  readonly rounds: PlannedCell
  readonly waitsFor: ReadonlySet<number>
  readonly waitsForAll: boolean
  readonly lastIndex: number
}

interface ExecutedStep {
  readonly input: string
  readonly before: ProgramState
  readonly result: DescribedStepResult
}

/**
 * The program of one session. It executes each step once, and returns the recorded result when a step is requested
 * again. A new epoch continues at its first step, as after a rebuild.
 */
class FakeSession {
  #epoch = 0
  #state: ProgramState = { rounds: [], waitsFor: new Set(), waitsForAll: true, lastIndex: 0 }
  readonly #executed = new Map<number, ExecutedStep>()
  #runningStep: { readonly number: number; readonly interrupt: AbortController } | undefined

  async executeStep(epoch: number, step: Step, ms: number): Promise<DescribedStepResult> {
    if (epoch > this.#epoch) this.#continueAt(epoch, step.number)
    const interrupt = new AbortController()
    this.#runningStep = { number: step.number, interrupt }
    const began = Date.now()
    await delay(ms, undefined, { signal: interrupt.signal }).catch(() => undefined)
    this.#runningStep = undefined
    const input = JSON.stringify(step.input)
    const executed = this.#executed.get(step.number)
    if (epoch < this.#epoch || (executed !== undefined && executed.input !== input))
      return { type: 'lost', cause: 'gone', reason: 'the sandbox is ahead', fenced: true }
    if (executed !== undefined) return executed.result
    const before = this.#state
    const result: DescribedStepResult = interrupt.signal.aborted
      ? { ...failed('stopped', 'KeyboardInterrupt'), interruptedAfterMs: Date.now() - began }
      : this.#resultOf(step)
    this.#executed.set(step.number, { input, before, result })
    return result
  }

  #continueAt(epoch: number, number: number): void {
    this.#epoch = epoch
    this.#state = this.#executed.get(number)?.before ?? this.#state
    for (const executed of this.#executed.keys()) if (executed >= number) this.#executed.delete(executed)
  }

  interrupt(step: number): void {
    if (this.#runningStep?.number !== step) throw ApplicationFailure.retryable(`step ${step} is not under way`)
    this.#runningStep.interrupt.abort()
  }

  #resultOf({ input }: Step): DescribedStepResult {
    switch (input.type) {
      case 'file':
        return { type: 'completed', output: '' }
      case 'stop':
        return failed('timed_out', input.reason)
      case 'cell':
        return this.#next(JSON.parse(input.source as string) as PlannedCell)
      case 'results': {
        const { rounds, waitsFor, waitsForAll } = this.#state
        const arrived = new Set(input.results.map(({ index }) => index))
        const open = new Set([...waitsFor].filter((index) => !arrived.has(index)))
        if (open.size === 0 || (!waitsForAll && open.size < waitsFor.size)) return this.#next(rounds)
        this.#state = { ...this.#state, waitsFor: open }
        return suspended([])
      }
    }
  }

  #next([round, ...rounds]: PlannedCell): DescribedStepResult {
    const { lastIndex } = this.#state
    const durations = round?.type === 'calls' ? round.durations : []
    const calls = durations.map((ms, place) => describedCall(lastIndex + place + 1, ms))
    this.#state = {
      rounds,
      waitsFor: new Set(calls.map(({ index }) => index)),
      waitsForAll: round?.type === 'calls' && round.waitsFor === 'all',
      lastIndex: lastIndex + calls.length,
    }
    if (round === undefined) return { type: 'completed', output: 'done\n' }
    return round.type === 'sleep' ? suspended([], round.ms) : suspended(calls)
  }
}

function suspended(calls: readonly DescribedCall[], wakeInMs: number | null = null): DescribedStepResult {
  return { type: 'suspended', calls, wakeInMs, output: '' }
}

function failed(kind: 'stopped' | 'timed_out', error: string): Extract<DescribedStepResult, { type: 'failed' }> {
  return { type: 'failed', kind, error, output: '' }
}

/** A call of tool `look`, which is local, or of `work`. */
export function describedCall(index: number, ms: number): DescribedCall {
  const tool = ms <= 50 ? 'look' : 'work'
  return { index, tool, arguments: { ms }, summary: `${tool} ${ms} ms`, digest: `${index}-${ms}`, refused: null }
}

async function callLocally(result: DescribedStepResult): Promise<readonly DeliveredResult[] | undefined> {
  if (result.type !== 'suspended' || result.wakeInMs !== null || result.calls.length === 0) return undefined
  const { calls } = result
  if (calls.some(({ tool }) => tool !== 'look')) return undefined
  await delay(Math.max(...calls.map(({ arguments: { ms } }) => Number(ms))))
  return calls.map(({ index }) => ({ index, outcome: { status: 'ok', value: null } }))
}

async function work(ms: number): Promise<void> {
  const { cancellationSignal } = Context.current()
  const beats = setInterval(() => Context.current().heartbeat(), 500)
  try {
    await delay(ms, undefined, { signal: cancellationSignal })
  } finally {
    clearInterval(beats)
  }
}
