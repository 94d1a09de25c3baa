import { onTestFinished } from 'vitest'
import { createPtcClient, type PtcClient } from '../../../src/client/index.js'
import { type ServeOptions, startServer } from '../../../src/serve/index.js'
import { fileStream } from '../../../src/stream/index.js'
import { LocalStore } from '../../../src/values/local/local-store.js'
import { Values } from '../../../src/values/values.js'
import { TestEnvironment, type TestEnvironmentOptions } from '../environment/test-environment.js'
import { temporaryFolder } from '../folders.js'
import { uniqueName } from '../temporal/shared-server.js'

/** An environment with a live stream, and servers for its conversations. All end with the test. */
export class ServeEnvironment {
  readonly env: TestEnvironment
  readonly ptc: PtcClient
  /** Name of a conversation that ends with the test. */
  readonly name = uniqueName('talk')

  private constructor(env: TestEnvironment, ptc: PtcClient) {
    this.env = env
    this.ptc = ptc
    env.sessionHandle(this.name, ptc.conversation(this.name).workflowId)
  }

  static async start(options: TestEnvironmentOptions): Promise<ServeEnvironment> {
    const stream = fileStream({ folder: await temporaryFolder() })
    const env = await TestEnvironment.start({ stream, ...options })
    const { client, taskQueue, valuesDirectory } = env
    const values = new Values({ store: new LocalStore(valuesDirectory) })
    return new ServeEnvironment(env, createPtcClient({ client, taskQueue, values, stream }))
  }

  /** Starts another server. */
  async server(options: Partial<ServeOptions> = {}): Promise<TestServer> {
    const server = await startServer({ ptc: this.ptc, port: 0, ...options })
    onTestFinished(() => server.close())
    return new TestServer(server, this.name)
  }
}

interface JsonReply {
  readonly status: number
  readonly body: unknown
}

/** A server, for requests about one conversation. */
class TestServer {
  readonly url: string
  readonly #server: Awaited<ReturnType<typeof startServer>>
  readonly #name: string

  constructor(server: Awaited<ReturnType<typeof startServer>>, name: string) {
    this.url = server.url
    this.#server = server
    this.#name = name
  }

  close(): Promise<void> {
    return this.#server.close()
  }

  /** @param path after the path of the conversation */
  async get(path = ''): Promise<JsonReply> {
    return toReply(await fetch(`${this.url}/conversations/${this.#name}${path}`))
  }

  async post(path: string, body: object = {}): Promise<JsonReply> {
    const options = { method: 'POST', body: JSON.stringify(body) }
    return toReply(await fetch(`${this.url}/conversations/${this.#name}${path}`, options))
  }

  async decide(token: string, body: object): Promise<JsonReply> {
    return toReply(await fetch(`${this.url}/approvals/${token}`, { method: 'POST', body: JSON.stringify(body) }))
  }

  async stream(lastEventId?: string): Promise<Response> {
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
    return fetch(`${this.url}/conversations/${this.#name}/stream`, { headers })
  }
}

async function toReply(response: Response): Promise<JsonReply> {
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}
