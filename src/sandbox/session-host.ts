import { unlessAborted } from '../common/abort.js'
import { digestOf } from '../common/call-key.js'
import { crashPoint } from '../common/crash-point.js'
import { PtcError } from '../common/errors.js'
import type { Limits } from '../common/limits.js'
import type { BackendChoice } from '../common/plan.js'
import type { OpenedSession, SessionRef, Step, StepAnswer } from '../common/steps.js'
import type { SandboxBackend, SandboxConnection, SandboxId } from './backend.js'
import type { SessionFacts } from './protocol/hello.js'
import type { ToolSignature } from './protocol/messages.js'
import { mustInterruptAgain, type RunningCode } from './interrupt.js'
import type { Restored } from './protocol/answers.js'
import type { RunnerStep } from './protocol/step-message.js'
import { SessionDriver } from './session-driver.js'
import type { Snapshot, SnapshotLimits } from './snapshot-receiver.js'
import type { AdvanceOptions } from './step-under-way.js'

export interface SessionHostOptions {
  readonly namespace: string
  /** The first is what `auto` means here. */
  readonly backends: readonly SandboxBackend[]
  /** For sessions whose own tools are not given. */
  readonly tools: readonly ToolSignature[]
}

/** Who a session belongs to, and what it may use. */
export interface SessionOwner {
  readonly workflowId: string
  readonly runId: string
  readonly limits: Limits
  /** The tools of its run. Default: those of the host. */
  readonly tools?: readonly ToolSignature[]
}

/**
 * Connections in a row that broke before the sandbox said anything but its greeting; then it is given up. One may break before the step is
 * taken and one behind it: the next has the answer.
 */
const fruitlessConnections = 3

/** `tools`: of the session's run; to be given until its sandbox has been driven once. */
export type StepFacts = Pick<SessionFacts, 'limits'> & Partial<Pick<SessionFacts, 'tools'>>

type HostAdvanceOptions = AdvanceOptions & { readonly signal: AbortSignal }

/** The sessions of one host: opens them, finds them again after a restart, and drives them. */
export class SessionHost {
  readonly #options: SessionHostOptions
  readonly #backends: ReadonlyMap<string, SandboxBackend>
  readonly #drivers = new Map<string, Promise<SessionDriver | undefined>>()

  constructor(options: SessionHostOptions) {
    this.#options = options
    this.#backends = new Map(options.backends.map((backend) => [backend.name, backend]))
  }

  /** Makes the session's sandbox, or finds it. */
  async open(wanted: SessionRef, owner: SessionOwner, signal: AbortSignal): Promise<Omit<OpenedSession, 'hostQueue'>> {
    const backend = this.#backend(wanted.backend)
    const session = { ...wanted, backend: backend.name }
    const id = this.#sandboxId(session)
    const { tools, ...spec } = owner
    const connection = await backend.open({ ...id, ...spec }, signal)
    const driver = this.#drive(connection, session, { limits: owner.limits, ...(tools && { tools }) }, false)
    const before = await this.#drivers.get(keyOf(session))
    await before?.detach()
    this.#drivers.set(keyOf(session), Promise.resolve(driver))
    const keepsParked = (await backend.parking?.isAvailable()) ?? false
    return { session, description: driver.description, keepsParked }
  }

  /**
   * Runs one step; `lost` when the sandbox is gone. Attaches again first when this process does not know the session.
   *
   * @throws the signal's reason: whoever asks again, here or on another worker, joins the step, which goes on meanwhile
   */
  advance(session: SessionRef, step: Step, facts: StepFacts, options: HostAdvanceOptions): Promise<StepAnswer>
  /** Instead of all steps up to this one, in a sandbox where none was taken: the state they left. */
  advance(
    session: SessionRef,
    step: RunnerStep,
    facts: StepFacts,
    options: HostAdvanceOptions,
  ): Promise<StepAnswer | Restored>
  async advance(
    session: SessionRef,
    step: RunnerStep,
    facts: StepFacts,
    options: HostAdvanceOptions,
  ): Promise<StepAnswer | Restored> {
    let end: StepAnswer = { type: 'lost', cause: 'gone', reason: 'the sandbox is no longer there' }
    const code: RunningCode = {}
    let fruitless = 0
    for (;;) {
      const driver = await this.#find(session, facts, options.signal)
      if (!driver) return end
      const answering = driver.advance(step, options, code)
      if (mustInterruptAgain(code)) void driver.interrupt(step.number)
      const answer = await unlessAborted(options.signal, answering)
      crashPoint('step.answered')
      if (answer.type !== 'lost') return answer
      this.#drivers.delete(keyOf(session))
      await driver.detach()
      // A broken connection is not a dead sandbox: as long as connections bring something, ask the backend for another.
      fruitless = driver.hasSpoken ? 0 : fruitless + 1
      if (answer.cause !== 'gone' || fruitless === fruitlessConnections) return answer
      end = answer
    }
  }

  /** The state a program is in after this step, between two cells; never rejects for what the sandbox does. */
  async snapshot(
    session: SessionRef,
    step: number,
    wanted: SnapshotLimits & StepFacts,
    { attempt, signal }: { readonly attempt: number; readonly signal: AbortSignal },
  ): Promise<Snapshot> {
    const driver = await this.#find(session, wanted, signal)
    const { bytes, seconds } = wanted
    if (driver) return driver.snapshot(step, attempt, { bytes, seconds }, signal)
    return { type: 'no_snapshot', reason: 'the sandbox is no longer there' }
  }

  /** Interrupts the code of a step; false when this process does not carry it out. */
  async interrupt(session: SessionRef, step: number): Promise<boolean> {
    const driver = await this.#drivers.get(keyOf(session))
    return driver === undefined ? false : driver.interrupt(step)
  }

  /**
   * Puts the sandbox of a session to rest in which nothing is under way: true when the next step finds it as it is now.
   * False when that can't be done; then it is removed.
   */
  async park(session: SessionRef, signal: AbortSignal): Promise<boolean> {
    await this.#letGo(session)
    const id = this.#sandboxId(session)
    const backend = this.#backend(session.backend)
    if (await backend.parking?.park(id, signal)) return true
    await backend.remove(id)
    return false
  }

  /** Ends the session and removes its sandbox; fine when there is none. */
  async close(session: SessionRef): Promise<void> {
    await this.#letGo(session)
    await this.#backend(session.backend).remove(this.#sandboxId(session))
  }

  /** Can this host open sandboxes of this backend? */
  offers(backend: BackendChoice): boolean {
    return backend === 'auto' ? this.#backends.size > 0 : this.#backends.has(backend)
  }

  /** Does this process hold the sandbox? Then it is not to be taken for forgotten, however old. */
  holds(id: SandboxId): boolean {
    return [...this.#backends.keys()].some((backend) =>
      this.#drivers.has(keyOf({ id: id.session, epoch: id.epoch, backend })),
    )
  }

  /** Lets go of every session without ending those that can outlive this process. */
  async shutdown(): Promise<void> {
    const drivers = await Promise.all(this.#drivers.values())
    this.#drivers.clear()
    await Promise.all(drivers.map(async (driver) => driver?.detach()))
    await Promise.all(this.#options.backends.map((backend) => backend.close()))
  }

  async #letGo(session: SessionRef): Promise<void> {
    const driver = await this.#drivers.get(keyOf(session))
    this.#drivers.delete(keyOf(session))
    await driver?.detach()
  }

  #find(session: SessionRef, facts: StepFacts, signal: AbortSignal): Promise<SessionDriver | undefined> {
    const key = keyOf(session)
    const known = this.#drivers.get(key)
    if (known) return known
    const attached = this.#attach(session, facts, signal)
    this.#drivers.set(key, attached)
    const forget = (): void => {
      if (this.#drivers.get(key) === attached) this.#drivers.delete(key)
    }
    attached.then((driver) => driver ?? forget(), forget)
    return attached
  }

  async #attach(session: SessionRef, facts: StepFacts, signal: AbortSignal): Promise<SessionDriver | undefined> {
    const connection = await this.#backend(session.backend).attach(this.#sandboxId(session), signal)
    crashPoint('sandbox.attached')
    return connection && this.#drive(connection, session, facts, true)
  }

  #drive(
    connection: SandboxConnection,
    session: SessionRef,
    { limits, tools }: StepFacts,
    isAttached: boolean,
  ): SessionDriver {
    const { id, epoch, startedAt } = session
    return new SessionDriver(connection, {
      session: id,
      epoch,
      seed: seedOf(id),
      startedAt,
      tools: tools ?? this.#options.tools,
      limits,
      resume: true,
      isAttached,
    })
  }

  #sandboxId(session: SessionRef): SandboxId {
    return { namespace: this.#options.namespace, session: session.id, epoch: session.epoch }
  }

  #backend(name: BackendChoice): SandboxBackend {
    const backend = name === 'auto' ? this.#options.backends[0] : this.#backends.get(name)
    if (backend) return backend
    throw new PtcError('SANDBOX_UNAVAILABLE', `this worker has no ${name === 'auto' ? 'usable' : name} sandbox`, {
      hint: 'Start a worker where it is usable; `ptc doctor` says what is missing.',
    })
  }
}

function keyOf(session: Omit<SessionRef, 'backend'> & { readonly backend: string }): string {
  return `${session.backend}/${session.id}/${session.epoch}`
}

/** The same for every rebuild of a session, so that its random numbers are. */
function seedOf(session: string): number {
  return Number.parseInt(digestOf(session).slice(0, 8), 16)
}
