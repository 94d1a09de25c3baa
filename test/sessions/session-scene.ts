import type { WorkflowHandle } from '@temporalio/client'
import type { ExecuteOptions, SessionExecution } from '../../src/client/index.js'
import { Stack, type StackOptions } from '../support/stack.js'
import { uniqueName } from '../support/temporal.js'

/** One session in a stack of its own; both end with the test. */
export class SessionScene {
  readonly stack: Stack
  readonly name: string
  readonly run: WorkflowHandle

  private constructor(stack: Stack, name: string) {
    this.stack = stack
    this.name = name
    this.run = stack.sessionRun(name)
  }

  static async start(options: StackOptions = {}): Promise<SessionScene> {
    return SessionScene.in(await Stack.start(options))
  }

  /** Another session in the same stack, or one in another stack with a name that is in use. */
  static in(stack: Stack, name = uniqueName('test')): SessionScene {
    return new SessionScene(stack, name)
  }

  execute(source: string, options?: ExecuteOptions): Promise<SessionExecution> {
    return this.stack.ptc.sessions.execute(this.name, source, options)
  }

  /** What code prints that must end well. */
  async printed(source: string): Promise<string> {
    const { outcome } = await this.execute(source)
    if (outcome.status !== 'ok') throw new Error(`${outcome.status}: ${outcome.error}`)
    return outcome.output
  }

  /** Settles when a worker carries out a step of code. */
  runsCode(): Promise<void> {
    return this.stack.activityRuns(this.run, 'session.advance')
  }

  /** Executions the session has taken. */
  accepted(): Promise<number> {
    return this.#count('workflowExecutionUpdateAcceptedEventAttributes')
  }

  /** Signals it was sent. */
  signals(): Promise<number> {
    return this.#count('workflowExecutionSignaledEventAttributes')
  }

  async #count(attributes: keyof Awaited<ReturnType<Stack['history']>>['events'][number]): Promise<number> {
    const { events } = await this.stack.history(this.run)
    return events.filter((event) => event[attributes] !== null && event[attributes] !== undefined).length
  }

  /** Ends it; then nothing may be left, and its history must replay. */
  async close(): Promise<void> {
    await this.stack.ptc.sessions.close(this.name)
    await this.stack.leftClean(this.run)
  }
}
