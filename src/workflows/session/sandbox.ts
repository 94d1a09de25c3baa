import { ActivityFailure, CancellationScope, condition } from '@temporalio/workflow'
import { callerIdentity } from '../../common/calls/calls.js'
import { defined } from '../../common/defined.js'
import { filesService, type FoundFile, type StoreFilesResult } from '../../common/files/files.js'
import { pickStepLimits } from '../../common/run/limits.js'
import { requesterOf } from '../../common/run/requester.js'
import type { BackendChoice, RunConfig } from '../../common/run/run-config.js'
import type { DescribedStepResult, ExecuteStepInput, NewStep, StepActivityResult } from '../../common/session/steps.js'
import type { OpenedSession, OpenInput, SessionRef, SessionTools } from '../../common/session/session.js'
import { showOpening } from '../run/progress.js'
import type { Run } from '../run/run.js'
import * as activities from '../temporal/activities.js'
import { hasFailedWith } from '../temporal/failures.js'
import { metrics } from '../temporal/metrics.js'
import { bytesOfFiles, externalBytes, payloadBytes } from '../run/stored-bytes.js'
import { describeOpen } from './describe.js'
import { hostLossReason, lossCause, storedResultOf } from './losses.js'
import { hostQueueOf, type SandboxEvent, type SandboxState, transition } from './sandbox-state.js'

/** A step, without what the run says about every step. */
export type RequestedStep = Omit<NewStep, 'requester' | 'network'>

export interface SerializedSandbox {
  readonly ref: SessionRef
  readonly state: SandboxState
  /** The image of the latest sandbox, which the next one gets on the same host. Absent: none is known. */
  readonly image?: string
}

/**
 * The sandbox of a session: one container or embedded interpreter at a time. Each one has a different epoch.
 *
 * Owns: the state of the sandbox ({@link SandboxState}) and every activity on it.
 * Boundary: it does not know the journal. `Session` decides what a new sandbox executes.
 *
 * Invariants:
 * 1. Every sandbox that was opened is closed, parked, or left to the reaper of a host that does not answer.
 * 2. A host that does not answer fails no run: the result of the step is `lost`.
 * 3. Opening waits without a limit for a worker that has the backend, and while the backend is down. The backend of a
 *    session never changes: its state may not fit another one.
 */
export class Sandbox {
  readonly #run: Run
  readonly #config: RunConfig
  #ref: SessionRef
  #state: SandboxState
  #image: string | undefined
  #openingMs = 0
  /** Settles when every parked sandbox is on the disk of its host, or removed. */
  #parking: Promise<unknown> = Promise.resolve()

  constructor(run: Run, { ref, state, image }: SerializedSandbox) {
    this.#run = run
    this.#config = run.config
    this.#ref = ref
    this.#state = state
    this.#image = image
  }

  get ref(): SessionRef {
    return this.#ref
  }

  get isOpen(): boolean {
    return this.#state.type === 'open'
  }

  /**
   * State and backend for the inspect query. The backend is `auto` until a host has chosen one for the first sandbox.
   */
  get status(): { readonly state: 'none' | 'open' | 'parked'; readonly backend: BackendChoice } {
    const { type } = this.#state
    return { state: type === 'none' || type === 'open' ? type : 'parked', backend: this.#ref.backend }
  }

  get hostQueue(): string {
    return hostQueueOf(this.#state) ?? ''
  }

  /** Milliseconds for which this execution of the chain has waited for sandboxes. */
  get openingMs(): number {
    return this.#openingMs
  }

  /**
   * Opens a new sandbox, with the next epoch, on any host that has the backend. Waits for such a host.
   *
   * @param first the first step of the session, which the host executes in the same activity if it is short
   * @returns the result of the first step; undefined when it must be requested
   */
  async open(first?: RequestedStep): Promise<DescribedStepResult | undefined> {
    const isParked = this.#state.type === 'parked'
    this.#ref = { ...this.#ref, epoch: this.#ref.epoch + 1 }
    const { language, limits, image } = this.#config
    const reason = this.#ref.epoch === 1 ? 'new' : isParked ? 'unpark' : 'rebuild'
    const files = (this.#config.skills?.all ?? []).flatMap((skill) => skill.files ?? [])
    const withFiles = files.length > 0 && { files }
    const ofSandbox = this.#config.files ? `${language},${filesService}` : language
    const withImage = defined({ image, pinnedImage: this.#image })
    const withNetwork = this.#config.network && { network: true as const }
    const input = {
      session: this.#ref,
      language: ofSandbox,
      limits,
      tools: this.#tools(false),
      ...withFiles,
      ...withImage,
      ...withNetwork,
      ...(first && { firstStep: this.#withRunData(first) }),
      reason,
    } as const
    const opened = await this.#openWhenUp(input, describeOpen(this.#ref, isParked, first?.step))
    const { session, hostQueue, supportsCheckpoint } = opened
    this.#ref = { ...this.#ref, backend: session.backend }
    this.#image = opened.image ?? this.#image
    this.#apply({ type: 'opened', hostQueue, supportsCheckpoint })
    const { firstStep } = opened
    if (!firstStep) return undefined
    this.#run.addStoredBytes(payloadBytes(input.firstStep))
    this.#countResult(firstStep)
    this.#apply({ type: 'stepped' })
    return firstStep
  }

  async #openWhenUp(input: OpenInput, summary: string): Promise<OpenedSession> {
    const startedAt = Date.now()
    const hide = showOpening(this.#run, input.session.backend)
    try {
      for (let isDown = false; ; isDown = true) {
        // Invariant 3.
        try {
          return await activities.openSession(input, this.#config.timeouts, summary, isDown)
        } catch (thrown) {
          if (!hasFailedWith(thrown, 'SANDBOX_BACKEND_DOWN')) throw thrown
        }
      }
    } finally {
      hide()
      this.#openingMs += Date.now() - startedAt
    }
  }

  /**
   * Waits until parking has ended, and opens a sandbox that its host keeps as a checkpoint: the next step resumes it.
   *
   * @returns whether there is such a sandbox
   */
  async resume(): Promise<boolean> {
    await condition(() => this.#state.type !== 'parking')
    if (this.#state.type !== 'checkpointed') return false
    this.#apply({ type: 'resumed' })
    return true
  }

  /** Runs a step in the open sandbox. A host that does not answer is a `lost` result. */
  async executeStep(
    input: Omit<ExecuteStepInput, 'session' | 'tools' | 'limits' | 'requester' | 'network'>,
    summary: string,
  ): Promise<StepActivityResult> {
    const hasStubs = this.#state.type === 'open' && this.#state.hasStubs
    const limits = pickStepLimits(this.#config.limits)
    const request = { session: this.#ref, tools: this.#tools(hasStubs), limits, ...this.#withRunData(input) }
    this.#run.addStoredBytes(payloadBytes(request))
    try {
      const result = await activities.executeStep(request, this.hostQueue, this.#config.timeouts, summary)
      this.#countResult(result)
      if (this.isOpen) this.#apply({ type: 'stepped' })
      return result
    } catch (thrown) {
      // The sandbox has executed later steps: those of a run before a reset, or of a lost attempt.
      if (hasFailedWith(thrown, 'SANDBOX_FENCED'))
        return { type: 'lost', cause: 'gone', reason: 'the sandbox is ahead of this run', fenced: true }
      const reason = hostLossReason(thrown)
      if (reason === undefined) throw thrown
      const lost = { type: 'lost', cause: 'gone', reason, hostUnreachable: true } as const
      const stored = storedResultOf(thrown)
      if (!stored) return lost
      // The host has made calls with effects, which must not be made again. The next step rebuilds the session elsewhere.
      metrics.add('ptc_session_losses_total', 1, { cause: lossCause(lost) })
      this.discard().catch(() => undefined)
      this.#countResult(stored)
      return stored
    }
  }

  /** Adds to the request of a step what the run says about its requester and its network. */
  #withRunData<Request>(request: Request): Request & Pick<ExecuteStepInput, 'requester' | 'network'> {
    const requester = requesterOf(this.#config.context)
    const { network } = this.#config
    const ofNetwork = network && { rules: network.rules, ...callerIdentity(this.#config) }
    return { ...request, ...defined({ requester, network: ofNetwork }) }
  }

  #countResult(result: StepActivityResult): void {
    this.#run.addStoredBytes(payloadBytes(result) + externalBytes(result))
  }

  async interrupt(step: number): Promise<void> {
    await activities.interruptSession({ session: this.#ref, step }, this.hostQueue, this.#config.timeouts)
  }

  /**
   * Releases the sandbox until the next step: it becomes a checkpoint where its host can keep one, and is removed
   * elsewhere. A cancellation does not stop this.
   *
   * @param snapshot the snapshot in progress, which ends first
   */
  park(snapshot: Promise<void> | undefined): void {
    if (this.#state.type !== 'open') return
    const { hostQueue } = this.#state
    const ref = this.#ref
    const { type } = this.#apply({ type: 'parkStarted' })
    const parked = CancellationScope.nonCancellable(async () => {
      await snapshot
      const isKept = type === 'parking' && (await this.#checkpoint(ref, hostQueue))
      if (type !== 'parking') await this.#remove(ref, hostQueue, 'park the session')
      metrics.add('ptc_session_parks_total', 1, { result: isKept ? 'checkpointed' : 'removed' })
    })
    this.#parking = Promise.all([this.#parking, parked]) // invariant 1
  }

  /** Removes the sandbox, if there is one; a host that does not answer leaves that to its reaper. */
  async discard(summary = 'close the session'): Promise<void> {
    if (this.#state.type === 'parking') await this.#parking
    const hostQueue = hostQueueOf(this.#state)
    this.#apply({ type: 'discarded' })
    if (hostQueue !== undefined) await this.#remove(this.#ref, hostQueue, summary)
  }

  /** Called when its host has removed the sandbox. */
  forget(): void {
    this.#apply({ type: 'discarded' })
  }

  /** Removes the sandbox when parking has ended. */
  async close(): Promise<void> {
    await this.#parking
    await this.discard()
  }

  async serialize(): Promise<SerializedSandbox> {
    await this.#parking
    return { ref: this.#ref, state: this.#state, ...defined({ image: this.#image }) }
  }

  /** Stores files of the sandbox. A host that does not answer, and one without the sandbox, is `gone`. */
  async storeFiles(step: number, files: readonly FoundFile[]): Promise<StoreFilesResult> {
    const { limits, context } = this.#config
    const requester = requesterOf(context)
    // Code that has taken over its runner may report more than fits into the sandbox.
    const maxBytes = this.#run.isStorageExhausted ? 0 : limits.tmpBytes
    try {
      const ofEvents = defined({ requester })
      const input = { session: this.#ref, step, limits: pickStepLimits(limits), maxBytes, files, ...ofEvents }
      const result = await activities.storeFiles(input, this.hostQueue, this.#config.timeouts)
      if (result.type === 'stored') this.#run.addStoredBytes(bytesOfFiles(result.files))
      return result
    } catch (thrown) {
      if (hostLossReason(thrown) === undefined) throw thrown
      return { type: 'gone' }
    }
  }

  /** Returns false when the host removed the sandbox. */
  async #checkpoint(ref: SessionRef, hostQueue: string): Promise<boolean> {
    let isKept = true
    try {
      isKept = await activities.parkSession(ref, hostQueue, this.#config.timeouts)
    } catch (thrown) {
      if (!(thrown instanceof ActivityFailure)) throw thrown
      // The host does not answer. The next step finds out whether the sandbox runs, is a checkpoint, or is gone.
    } finally {
      this.#apply({ type: isKept ? 'checkpointed' : 'released' })
    }
    return isKept
  }

  async #remove(ref: SessionRef, hostQueue: string, summary: string): Promise<void> {
    try {
      await activities.closeSession(ref, hostQueue, this.#config.timeouts, summary)
    } catch (thrown) {
      if (!(thrown instanceof ActivityFailure)) throw thrown
    }
  }

  /**
   * Returns the tools for a request: their signatures until the sandbox has its stubs, afterwards only the
   * identification of the tool set.
   */
  #tools(hasStubs: boolean): SessionTools {
    const { digest, signatures, names, source, language } = this.#config.toolSet
    const id = { digest, ...defined({ names, source, language }) }
    return { ...id, ...(hasStubs ? {} : { signatures }) }
  }

  #apply(event: SandboxEvent): SandboxState {
    this.#state = transition(this.#state, event)
    return this.#state
  }
}
