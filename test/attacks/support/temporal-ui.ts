import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../../src/common/errors.js'
import { queryRefusedMessage } from '../../../src/common/names.js'
import { readableText } from './readable-text.js'

/** Reads all data that Temporal's web UI can show of a namespace, from the HTTP API behind its pages. */
export class TemporalUi {
  readonly #api: string
  #cookie = ''

  constructor(url: string, namespace: string) {
    this.#api = `${url}/api/v1/namespaces/${namespace}`
  }

  /** Pages without a workflow: lists, workers, task queues. */
  async readNamespace(taskQueues: readonly string[]): Promise<string> {
    const pages = ['', '/workflows', '/workflow-count', '/workers', '/schedules', '/batch-operations', '/activities']
    const queues = taskQueues.map((queue) => `/task-queues/${encodeURIComponent(queue)}`)
    return this.#readAll([...pages, ...queues])
  }

  /** Pages of one workflow: description, history in both directions, and query results. */
  async readWorkflow(workflowId: string, queries: readonly string[]): Promise<string> {
    const workflow = `/workflows/${encodeURIComponent(workflowId)}`
    const pages = await this.#readAll([workflow, `${workflow}/history`, `${workflow}/history-reverse`])
    const answers = await Promise.all(queries.map((query) => this.#query(`${workflow}/query/${query}`, query)))
    return [pages, ...answers].join('\n')
  }

  async #readAll(paths: readonly string[]): Promise<string> {
    return (await Promise.all(paths.map((path) => this.#read(path)))).join('\n')
  }

  /** Reads all pages of a list. */
  async #read(path: string): Promise<string> {
    const found: string[] = []
    let token = ''
    do {
      const body = await this.#fetch(`${path}?nextPageToken=${encodeURIComponent(token)}`)
      found.push(withPayloads(body))
      token = (body as { readonly nextPageToken?: string }).nextPageToken ?? ''
    } while (token !== '')
    return found.join('\n')
  }

  async #query(path: string, queryType: string): Promise<string> {
    const token = /_csrf=([^;]+)/.exec(this.#cookie)?.[1] ?? ''
    const headers = { 'content-type': 'application/json', cookie: this.#cookie, 'x-csrf-token': token }
    const body = JSON.stringify({ query: { queryType } })
    for (;;) {
      try {
        return withPayloads(await this.#fetch(path, { method: 'POST', headers, body }))
      } catch (thrown) {
        if (!messageOf(thrown).includes(queryRefusedMessage)) throw thrown
        await delay(100)
      }
    }
  }

  async #fetch(path: string, init: RequestInit = {}): Promise<unknown> {
    const response = await fetch(`${this.#api}${path}`, init)
    this.#cookie = response.headers.get('set-cookie') ?? this.#cookie
    const text = await response.text()
    if (!response.ok) throw new Error(`the UI answered ${response.status} to ${path}: ${text}`)
    return JSON.parse(text)
  }
}

/** The strings of a response, with Base64 payloads decoded. */
function withPayloads(answer: unknown): string {
  const text = readableText(answer)
  const decoded = text
    .split('\n')
    .map((line) => (base64.test(line) ? Buffer.from(line, 'base64').toString('utf8') : ''))
  return [text, ...decoded].join('\n')
}

const base64 = /^[A-Za-z0-9+/]{4,}={0,2}$/
