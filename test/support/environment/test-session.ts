import type { WorkflowHandle } from '@temporalio/client'
import type { ExecuteOptions, SessionExecution } from '../../../src/client/index.js'
import { TestEnvironment, type TestEnvironmentOptions } from './test-environment.js'
import { uniqueName } from '../temporal/shared-server.js'

/** One session in a env of its own; both end with the test. */
export class TestSession {
  readonly env: TestEnvironment
  readonly name: string
  readonly handle: WorkflowHandle

  private constructor(env: TestEnvironment, name: string) {
    this.env = env
    this.name = name
    this.handle = env.sessionHandle(name)
  }

  static async start(options: TestEnvironmentOptions = {}): Promise<TestSession> {
    return TestSession.create(await TestEnvironment.start(options))
  }

  /** Another session in the same env, or one in another env with a name that is in use. */
  static create(env: TestEnvironment, name = uniqueName('test')): TestSession {
    return new TestSession(env, name)
  }

  execute(source: string, options?: ExecuteOptions): Promise<SessionExecution> {
    return this.env.ptc.sessions.execute(this.name, source, options)
  }

  /** What code prints that must end well. */
  async outputOf(source: string): Promise<string> {
    const { outcome } = await this.execute(source)
    if (outcome.status !== 'ok') throw new Error(`${outcome.status}: ${outcome.error}`)
    return outcome.output
  }

  /** Settles when a worker carries out a step of code. */
  waitForStep(): Promise<void> {
    return this.env.waitForActivity(this.handle, 'session.step')
  }

  /** Executions the session has taken. */
  acceptedUpdateCount(): Promise<number> {
    return this.#count('workflowExecutionUpdateAcceptedEventAttributes')
  }

  /** Signals it was sent. */
  signalCount(): Promise<number> {
    return this.#count('workflowExecutionSignaledEventAttributes')
  }

  async #count(attributes: keyof Awaited<ReturnType<TestEnvironment['history']>>['events'][number]): Promise<number> {
    const { events } = await this.env.history(this.handle)
    return events.filter((event) => event[attributes] !== null && event[attributes] !== undefined).length
  }

  /** Ends it; then nothing may be left, and its history must replay. */
  async close(): Promise<void> {
    await this.env.ptc.sessions.close(this.name)
    await this.env.expectCleanEnd(this.handle)
  }
}
