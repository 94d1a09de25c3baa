import type { WorkflowHandle } from '@temporalio/client'
import type { SessionExecution } from '../../../src/client/index.js'
import type { ExecuteOptions } from '../../../src/client/sessions/execute.js'
import type { InProcessWorkers } from './in-process-workers.js'
import { TestEnvironment, type TestEnvironmentOptions } from './test-environment.js'
import { uniqueName } from '../temporal/shared-server.js'
import { waitForActivity } from './waits.js'

/** One session in its own test environment; both end with the test. */
export class TestSession<Workers = InProcessWorkers> {
  readonly env: TestEnvironment<Workers>
  readonly name: string
  readonly handle: WorkflowHandle

  private constructor(env: TestEnvironment<Workers>, name: string) {
    this.env = env
    this.name = name
    this.handle = env.sessionHandle(name)
  }

  static async start(options: TestEnvironmentOptions = {}): Promise<TestSession> {
    return TestSession.create(await TestEnvironment.start(options))
  }

  /** Creates another session in the same environment, or one in another environment with a name that is in use. */
  static create<Workers>(env: TestEnvironment<Workers>, name = uniqueName('test')): TestSession<Workers> {
    return new TestSession(env, name)
  }

  execute(source: string, options?: ExecuteOptions): Promise<SessionExecution> {
    return this.env.ptc.sessions.execute(this.name, source, options)
  }

  /** The output of code that must complete. */
  async outputOf(source: string): Promise<string> {
    const { outcome } = await this.execute(source)
    if (outcome.status !== 'ok') throw new Error(`${outcome.status}: ${outcome.error}`)
    return outcome.output
  }

  /** Settles when a worker runs a step. */
  waitForStep(): Promise<void> {
    return waitForActivity(this.handle, 'session.step')
  }

  /** Number of executions that the session has accepted. */
  acceptedUpdateCount(): Promise<number> {
    return this.#count('workflowExecutionUpdateAcceptedEventAttributes')
  }

  /** Number of signals that the session has received. */
  signalCount(): Promise<number> {
    return this.#count('workflowExecutionSignaledEventAttributes')
  }

  async #count(attributes: keyof Awaited<ReturnType<TestEnvironment['history']>>['events'][number]): Promise<number> {
    const { events } = await this.env.history(this.handle)
    return events.filter((event) => event[attributes] !== null && event[attributes] !== undefined).length
  }

  /** Closes the session. Expects that no container is left, and that its history replays. */
  async close(): Promise<void> {
    await this.env.ptc.sessions.close(this.name)
    await this.env.expectCleanEnd(this.handle)
  }
}
