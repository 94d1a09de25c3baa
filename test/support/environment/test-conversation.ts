import type { WorkflowHandle } from '@temporalio/client'
import { type Conversation, type ConversationOptions, createPtcClient } from '../../../src/client/index.js'
import { LocalStore } from '../../../src/values/local/local-store.js'
import { Values } from '../../../src/values/values.js'
import { uniqueName } from '../temporal/shared-server.js'
import { requestMessages, type SentMessage, TestEnvironment, type TestEnvironmentOptions } from './test-environment.js'

/** One conversation in its own test environment; both end with the test. */
export class TestConversation {
  readonly env: TestEnvironment
  readonly conversation: Conversation
  readonly handle: WorkflowHandle

  private constructor(env: TestEnvironment, name: string, options: ConversationOptions) {
    this.env = env
    this.conversation = clientOf(env).conversation(name, options)
    this.handle = env.sessionHandle(name, this.conversation.workflowId)
  }

  static async start(
    environment: TestEnvironmentOptions,
    options: ConversationOptions = {},
  ): Promise<TestConversation> {
    return new TestConversation(await TestEnvironment.start(environment), uniqueName('talk'), options)
  }

  /** The same conversation for another process that knows only its name. */
  another(options: ConversationOptions = {}): Conversation {
    return clientOf(this.env).conversation(this.conversation.name, options)
  }

  /** The messages of the latest request to the model. */
  get sentMessages(): readonly SentMessage[] {
    return requestMessages(this.env.api.requests.at(-1)?.body)
  }

  /** Closes the conversation. Expects that no container is left, and that its history replays. */
  async close(): Promise<void> {
    await this.conversation.close()
    await this.env.expectCleanEnd(this.handle)
  }
}

function clientOf({ client, taskQueue, valuesDirectory }: TestEnvironment) {
  return createPtcClient({ client, taskQueue, values: new Values({ store: new LocalStore(valuesDirectory) }) })
}
