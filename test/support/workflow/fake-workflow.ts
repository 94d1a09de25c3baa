import { AsyncLocalStorage } from 'node:async_hooks'
import { CancelledFailure } from '@temporalio/common'
import { vi } from 'vitest'

/*
 * The parts of `@temporalio/workflow` that calls and slots of tools use, outside of a workflow: scopes, timers,
 * conditions, and signals to other workflows. For tests of classes whose timers last minutes, and of exact orders of
 * events. Tests of whole runs cover them in workflows.
 *
 * Invariants:
 * 1. Timers and `Date.now` are vitest's fake ones.
 * 2. Conditions are checked after each batch of promises, as after each activation of a workflow.
 */

/** A signal that was sent. */
export interface SentSignal {
  readonly workflowId: string
  readonly signal: string
  readonly input: unknown
}

interface Condition {
  readonly isMet: () => boolean
  readonly resolve: () => void
}

const workflow = {
  info: { workflowId: 'workflow', taskQueue: 'queue' },
  currentDetails: '',
  sent: [] as SentSignal[],
  /** Decides about the delivery of a signal. Default: it is delivered at once. */
  deliver: (_signal: SentSignal): Promise<void> => Promise.resolve(),
  handlers: new Map<string, (input: unknown) => void>(),
}
const conditions = new Set<Condition>()

/** The state of the workflow that a test reads and changes. */
export const fakeWorkflow: Readonly<typeof workflow> & Pick<typeof workflow, 'deliver'> = workflow

/** Begins a workflow. */
export function startFakeWorkflow(info: Partial<typeof workflow.info> = {}): void {
  vi.useFakeTimers()
  conditions.clear()
  workflow.info = { workflowId: 'workflow', taskQueue: 'queue', ...info }
  workflow.currentDetails = ''
  workflow.sent = []
  workflow.deliver = () => Promise.resolve()
  workflow.handlers.clear()
}

/** Runs everything that can run now. */
export async function settle(): Promise<void> {
  for (let batch = 0; batch < 20; batch += 1) {
    await vi.advanceTimersByTimeAsync(0)
    for (const condition of conditions) {
      if (!condition.isMet()) continue
      conditions.delete(condition)
      condition.resolve()
    }
  }
}

/** Lets time pass, with all timers in this time. */
export async function passTime(milliseconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds)
  await settle()
}

/** The signals since the last call, in order. */
export function takeSent(): readonly SentSignal[] {
  return workflow.sent.splice(0)
}

const scopes = new AsyncLocalStorage<FakeScope>()

class FakeScope {
  readonly #children = new Set<FakeScope>()
  readonly #onCancel = new Set<() => void>()

  constructor(parent = scopes.getStore()) {
    if (parent) parent.#children.add(this)
  }

  static nonCancellable<Result>(work: () => Promise<Result>): Promise<Result> {
    return new FakeScope(root).run(work)
  }

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return scopes.run(this, work)
  }

  cancel(): void {
    for (const child of this.#children) child.cancel()
    for (const callback of this.#onCancel) callback()
  }

  /**
   * Resolves when `start` calls back, and rejects when the scope is cancelled before. `start` returns a function that
   * stops the wait.
   */
  wait(start: (resolve: () => void) => () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = start(() => {
        this.#onCancel.delete(cancel)
        resolve()
      })
      const cancel = (): void => {
        stop()
        reject(new CancelledFailure('cancelled'))
      }
      this.#onCancel.add(cancel)
    })
  }
}

/** The scope of the workflow, which is never cancelled. */
const root: FakeScope = new FakeScope()
const currentScope = (): FakeScope => scopes.getStore() ?? root

/** Replaces the module `@temporalio/workflow`. */
export const fakeWorkflowModule = {
  CancellationScope: FakeScope,
  sleep: (milliseconds: number) =>
    currentScope().wait((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      return () => clearTimeout(timer)
    }),
  condition: (isMet: () => boolean) =>
    currentScope().wait((resolve) => {
      const condition = { isMet, resolve }
      conditions.add(condition)
      return () => conditions.delete(condition)
    }),
  workflowInfo: () => workflow.info,
  setCurrentDetails: (details: string) => (workflow.currentDetails = details),
  getExternalWorkflowHandle: (workflowId: string) => ({
    signal: (signal: string, input: unknown) => {
      const sent = { workflowId, signal, input }
      workflow.sent.push(sent)
      return workflow.deliver(sent)
    },
  }),
  defineSignal: (name: string) => name,
  setHandler: (name: string, handler: (input: unknown) => void) => workflow.handlers.set(name, handler),
}
