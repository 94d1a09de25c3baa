/**
 * Owns: every connection of this process to the sandbox of a session.
 *
 * Boundary: backends make sandboxes and connections; a {@link SessionDriver} drives one connection; this class decides
 * which connection a step uses.
 *
 * Invariants: 1. At most one driver per session and epoch. 2. A broken connection is not a dead sandbox: the step
 * continues over the next connection. 3. Three consecutive connections without progress end the step as lost. 4. No
 * driver outlives `shutdown`.
 *
 * | connection of a session | event                          | next      |
 * |-------------------------|--------------------------------|-----------|
 * | (none)                  | executeStep, snapshot          | attaching |
 * | attaching               | attached                       | connected |
 * | attaching               | no sandbox, or attach failed   | (none)    |
 * | any                     | open                           | connected |
 * | any                     | lost, park, close, shutdown    | (none)    |
 */
import { digestJson } from '../../common/calls/call-identity.js'
import { raceWithSignal } from '../../common/async/abort.js'
import { defined } from '../../common/defined.js'
import { failpoint } from '../../common/failpoint.js'
import { PtcError } from '../../common/errors.js'
import { metrics } from '../../common/telemetry/metrics.js'
import type { BackendChoice, BackendName } from '../../common/run/run-config.js'
import type { OpenedSession, SessionRef } from '../../common/session/session.js'
import type { Step, StepResult } from '../../common/session/steps.js'
import type { SandboxContents } from '../../common/run/sandbox-image.js'
import type { ContentsSpec, SandboxBackend, SandboxConnection, SandboxId, SandboxSpec } from '../backend.js'
import type { EgressProxyOptions } from '../network/egress-proxy.js'
import type { SessionInfo } from '../protocol/hello-message.js'
import type { ToolSignature } from '../protocol/messages.js'
import type { RestoreResult } from '../protocol/step-result.js'
import type { RunnerStep } from '../protocol/step-message.js'
import { SessionDriver } from './session-driver.js'
import type { FilePart, Snapshot, SnapshotLimits } from './snapshot-receiver.js'
import { type ExecuteStepOptions, newExecution } from './pending-step.js'

interface SessionHostOptions {
  readonly namespace: string
  /** `auto` selects the first. */
  readonly backends: readonly SandboxBackend[]
  /** Tools of sessions that were opened without tools. */
  readonly tools: readonly ToolSignature[]
  /** For tests, which have names and certificates of their own. */
  readonly proxy?: EgressProxyOptions
}

/** The data for opening a session. */
interface SessionSpec extends Omit<SandboxSpec, keyof SandboxId> {
  /** The tools of the session's run. Default: the tools of the host. */
  readonly tools?: readonly ToolSignature[]
}

/**
 * Maximum number of consecutive connections without progress before the step ends as lost. One may break before the
 * runner has the step and one after it; the third brings the result.
 */
const maximumFailedConnections = 3

/** `tools`: the tools of the session's run. Required until its runner has received a `hello`. */
export type AttachOptions = Pick<SessionInfo, 'limits'> & Partial<Pick<SessionInfo, 'tools'>>

type AbortableStepOptions = ExecuteStepOptions & { readonly signal: AbortSignal }

type Connection =
  | { readonly type: 'attaching'; readonly driver: Promise<SessionDriver | undefined> }
  | { readonly type: 'connected'; readonly driver: SessionDriver }

/** The sessions of one host: opens them, attaches to them after a restart, and executes their steps. */
export class SessionHost {
  readonly #options: SessionHostOptions
  readonly #backends: ReadonlyMap<string, SandboxBackend>
  readonly #connections = new Map<string, Connection>()

  constructor(options: SessionHostOptions) {
    this.#options = options
    this.#backends = new Map(options.backends.map((backend) => [backend.name, backend]))
  }

  /** Creates the sandbox of the session, or connects to the existing one. */
  async open(
    requested: SessionRef,
    sessionSpec: SessionSpec,
    signal: AbortSignal,
  ): Promise<Omit<OpenedSession, 'hostQueue'>> {
    const backend = this.#backend(requested.backend)
    const session = { ...requested, backend: backend.name }
    const id = this.#sandboxId(session)
    const { tools, ...spec } = sessionSpec
    if (spec.files && backend.files !== true)
      throw new PtcError('SANDBOX_FILES_UNSUPPORTED', `the sandbox ${backend.name} can't have files`, {
        hint: 'The run has skills with files: choose another sandbox, or an agent without these skills.',
      })
    if (spec.network && backend.network !== true)
      throw new PtcError('SANDBOX_NETWORK_UNSUPPORTED', `the sandbox ${backend.name} can't have a network`, {
        hint: 'The run has `network`: choose another sandbox, such as docker, or an agent with `network: false`.',
      })
    const connection = await backend.open({ ...id, ...spec }, signal)
    const driver = this.#createDriver(connection, session, { limits: sessionSpec.limits, ...defined({ tools }) }, false)
    const previousDriver = await this.#connections.get(sessionKey(session))?.driver
    await previousDriver?.detach()
    this.#setConnection(sessionKey(session), { type: 'connected', driver })
    const supportsCheckpoint = (await backend.checkpoints?.isAvailable()) ?? false
    return { session, description: driver.description, supportsCheckpoint, ...defined({ image: connection.image }) }
  }

  /**
   * Executes one step. Returns `lost` when the sandbox is lost. Attaches first when this process has no connection.
   *
   * @throws the signal's reason; the step continues, and the next call, here or on another worker, joins it.
   *   SANDBOX_FENCED when the sandbox has executed, or executes, another step with this number
   */
  executeStep(
    session: SessionRef,
    step: Step,
    attachOptions: AttachOptions,
    options: AbortableStepOptions,
  ): Promise<StepResult>
  /** A restore replaces all steps up to its number, in a sandbox that has executed none. */
  executeStep(
    session: SessionRef,
    step: RunnerStep,
    attachOptions: AttachOptions,
    options: AbortableStepOptions,
  ): Promise<StepResult | RestoreResult>
  async executeStep(
    session: SessionRef,
    step: RunnerStep,
    attachOptions: AttachOptions,
    options: AbortableStepOptions,
  ): Promise<StepResult | RestoreResult> {
    let lostResult: StepResult = { type: 'lost', cause: 'gone', reason: 'the sandbox is no longer there' }
    let execution = newExecution
    let failedConnections = 0
    for (;;) {
      const driver = await this.#driverFor(session, attachOptions, options.signal)
      if (!driver) return lostResult
      if (driver.executesOther(step)) throw new PtcError('SANDBOX_FENCED', `another step ${step.number} is in progress`)
      const pendingResult = driver.executeStep(step, options, execution)
      // The connection broke before the runner confirmed the interrupt.
      if (execution.interrupt.type === 'requested') void driver.interrupt(step.number)
      const result = await raceWithSignal(options.signal, pendingResult)
      failpoint('step.result')
      if (result.type !== 'lost') return result
      this.#setConnection(sessionKey(session), undefined)
      await driver.detach()
      execution = driver.executionOf(step.number) ?? execution
      failedConnections = driver.madeProgress ? 0 : failedConnections + 1
      if (result.cause !== 'gone' || failedConnections === maximumFailedConnections) return result
      lostResult = result
    }
  }

  /**
   * Executes one step that references no external value, over the connection of this process. Returns undefined without
   * a connection, or when it breaks. The step continues even if no caller waits for it, and the next call of
   * `executeStep` joins it.
   */
  async executeStepIfConnected(session: SessionRef, step: Step, attempt: number): Promise<StepResult | undefined> {
    const connection = this.#connections.get(sessionKey(session))
    if (connection?.type !== 'connected') return undefined
    const result = await connection.driver.executeStep(step, {
      attempt,
      onOutput: () => undefined,
      readValue: () => {
        throw new PtcError('INTERNAL', 'the step references an external value')
      },
    })
    failpoint('step.result')
    return result.type === 'lost' && (result.cause === 'gone' || result.cause === 'exited') ? undefined : result
  }

  /** Returns the state of the program after this step, between two cells. Never rejects because of the sandbox. */
  async snapshot(
    session: SessionRef,
    step: number,
    requested: SnapshotLimits & AttachOptions,
    { attempt, signal }: { readonly attempt: number; readonly signal: AbortSignal },
  ): Promise<Snapshot> {
    const driver = await this.#driverFor(session, requested, signal)
    const { bytes, seconds } = requested
    if (driver) return driver.snapshot(step, attempt, { bytes, seconds }, signal)
    return { type: 'no_snapshot', reason: 'the sandbox is no longer there' }
  }

  /**
   * Returns a part of a file as Base64, between two cells; undefined when the sandbox is lost. Never rejects because of
   * the sandbox.
   *
   * @param attempt greater for each part
   */
  async readFile(
    session: SessionRef,
    step: number,
    { part, ...attachOptions }: AttachOptions & { readonly part: FilePart },
    { attempt, signal }: { readonly attempt: number; readonly signal: AbortSignal },
  ): Promise<Snapshot | undefined> {
    for (let failures = 0; failures < maximumFailedConnections; failures += 1) {
      const driver = await this.#driverFor(session, attachOptions, signal)
      const answer = await driver?.snapshot(step, attempt, part, signal)
      if (!driver?.isLost) return answer
      this.#setConnection(sessionKey(session), undefined)
      await driver.detach()
    }
    return undefined
  }

  /**
   * Returns what programs find in a sandbox of this backend; undefined when this host does not have the backend, or when
   * the backend does not know it.
   *
   * @throws PtcError SANDBOX_UNAVAILABLE, SANDBOX_IMAGE_MISSING
   */
  async contentsOf(
    backend: BackendChoice,
    spec: ContentsSpec,
    signal: AbortSignal,
  ): Promise<SandboxContents | undefined> {
    const found = backend === 'auto' ? this.#options.backends[0] : this.#backends.get(backend)
    return found?.contentsOf?.(spec, signal)
  }

  /** Interrupts the code of a step. Returns false when this process does not execute it. */
  async interrupt(session: SessionRef, step: number): Promise<boolean> {
    const driver = await this.#connections.get(sessionKey(session))?.driver
    return driver === undefined ? false : driver.interrupt(step)
  }

  /**
   * Checkpoints the idle sandbox of a session. Returns true when the next step finds the same state, and false after a
   * failure: then the sandbox is removed.
   */
  async park(session: SessionRef, signal: AbortSignal): Promise<boolean> {
    await this.#disconnect(session)
    const id = this.#sandboxId(session)
    const backend = this.#backend(session.backend)
    const isKept = (await backend.checkpoints?.checkpoint(id, signal)) ?? false
    if (!isKept) await backend.remove(id)
    return isKept
  }

  /** Removes the sandbox of the session, if there is one. */
  async close(session: SessionRef): Promise<void> {
    await this.#disconnect(session)
    await this.#backend(session.backend).remove(this.#sandboxId(session))
  }

  get backends(): readonly BackendName[] {
    return this.#options.backends.map(({ name }) => name)
  }

  /** The place of the sandboxes of a backend, where several hosts reach them. */
  hostIdOf(backend: BackendName): string | undefined {
    return this.#backends.get(backend)?.hostId
  }

  /**
   * Returns whether this process is connected to the sandbox. Then a reaper must not remove it, independent of its age.
   */
  hasSession(id: SandboxId): boolean {
    return [...this.#backends.keys()].some((backend) =>
      this.#connections.has(sessionKey({ id: id.session, epoch: id.epoch, backend })),
    )
  }

  /** Detaches from every sandbox and closes the backends. Sandboxes that outlive the process keep running. */
  async shutdown(): Promise<void> {
    const drivers = await Promise.all([...this.#connections.values()].map(async ({ driver }) => driver))
    this.#connections.clear()
    metrics.setPart('ptc_sessions_open', this, 0)
    await Promise.all(drivers.map(async (driver) => driver?.detach()))
    await Promise.all(this.#options.backends.map((backend) => backend.close()))
  }

  async #disconnect(session: SessionRef): Promise<void> {
    const driver = await this.#connections.get(sessionKey(session))?.driver
    this.#setConnection(sessionKey(session), undefined)
    await driver?.detach()
  }

  async #driverFor(
    session: SessionRef,
    attachOptions: AttachOptions,
    signal: AbortSignal,
  ): Promise<SessionDriver | undefined> {
    const key = sessionKey(session)
    const known = this.#connections.get(key)
    if (known) return known.driver
    const attaching = { type: 'attaching', driver: this.#attach(session, attachOptions, signal) } as const
    this.#setConnection(key, attaching)
    const onAttached = (driver?: SessionDriver): void => {
      if (this.#connections.get(key) !== attaching) return
      this.#setConnection(key, driver && { type: 'connected', driver })
    }
    attaching.driver.then(onAttached, () => onAttached())
    return attaching.driver
  }

  async #attach(
    session: SessionRef,
    attachOptions: AttachOptions,
    signal: AbortSignal,
  ): Promise<SessionDriver | undefined> {
    const connection = await this.#backend(session.backend).attach(this.#sandboxId(session), signal)
    failpoint('sandbox.attached')
    metrics.add('ptc_session_attaches_total', 1, { result: connection ? 'attached' : 'gone' })
    return connection && this.#createDriver(connection, session, attachOptions, true)
  }

  #createDriver(
    connection: SandboxConnection,
    session: SessionRef,
    { limits, tools }: AttachOptions,
    isAttached: boolean,
  ): SessionDriver {
    const { id, epoch, startedAt } = session
    return new SessionDriver(connection, {
      session: id,
      epoch,
      seed: sessionSeed(id),
      startedAt,
      tools: tools ?? this.#options.tools,
      limits,
      resume: true,
      isAttached,
      proxy: this.#options.proxy,
    })
  }

  #setConnection(key: string, connection: Connection | undefined): void {
    if (connection) this.#connections.set(key, connection)
    else this.#connections.delete(key)
    metrics.setPart('ptc_sessions_open', this, this.#connections.size)
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

/** Returns a key for one sandbox of a session in this process. */
function sessionKey(session: Pick<SessionRef, 'id' | 'epoch'> & { readonly backend: string }): string {
  return `${session.backend}/${session.id}/${session.epoch}`
}

/** Returns the seed of a session. It is the same in every rebuild, so that its random numbers repeat. */
function sessionSeed(session: string): number {
  return Number.parseInt(digestJson(session).slice(0, 8), 16)
}
