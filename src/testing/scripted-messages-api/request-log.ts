import { EventEmitter, once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { redactedHeaders } from './headers.js'

/** What became of a request. */
export type RequestOutcome =
  /** Not over yet: being delayed, streamed or stalled. */
  | 'open'
  | 'answered'
  /** The API would have said no; see `status` and `error`. */
  | 'refused'
  /** A scripted fault struck. */
  | 'faulted'
  /** The client went away (or the server was closed) before the end. */
  | 'abandoned'

/** One request as it was received. Credentials in headers are replaced by `redacted`. */
export interface RecordedRequest {
  /** From 1, in order of arrival. */
  readonly number: number
  readonly requestId: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The parsed body; the text where it is no JSON. */
  readonly body: unknown
  /** Digest of the conversation so far, the same for every attempt at a turn; null where it was not looked at. */
  readonly conversation: string | null
  /** Assistant messages in the conversation; null where it was not looked at. */
  readonly assistantMessages: number | null
  /** The n-th message request for this conversation state, from 1; null where it was not looked at. */
  readonly attempt: number | null
  readonly outcome: RequestOutcome
  /** The refusal's type and message. */
  readonly error: { readonly type: string; readonly message: string } | null
}

type Writable = { -readonly [Key in keyof RecordedRequest]: RecordedRequest[Key] }

const changed = 'changed'

/** What the server was asked, for tests to look at and to wait for. */
export class RequestLog {
  readonly #requests: Writable[] = []
  readonly #changes = new EventEmitter().setMaxListeners(0)
  readonly #attempts = new Map<string, number>()

  get requests(): readonly RecordedRequest[] {
    return this.#requests
  }

  add(requestId: string, method: string, path: string, headers: IncomingHttpHeaders): RecordedRequest {
    const entry: Writable = {
      number: this.#requests.length + 1,
      requestId,
      method,
      path,
      headers: redactedHeaders(headers),
      body: null,
      conversation: null,
      assistantMessages: null,
      attempt: null,
      outcome: 'open',
      error: null,
    }
    this.#requests.push(entry)
    return entry
  }

  update(entry: RecordedRequest, change: Partial<Omit<RecordedRequest, 'number' | 'requestId'>>): void {
    Object.assign(entry, change)
    this.#changes.emit(changed)
  }

  /** Counts one more attempt at a conversation state. */
  nextAttempt(conversation: string): number {
    const attempt = (this.#attempts.get(conversation) ?? 0) + 1
    this.#attempts.set(conversation, attempt)
    return attempt
  }

  /** The first request, past or future, of which the condition holds. */
  async waitFor(condition: (request: RecordedRequest) => boolean, signal: AbortSignal): Promise<RecordedRequest> {
    for (;;) {
      signal.throwIfAborted()
      const found = this.#requests.find(condition)
      if (found !== undefined) return found
      await once(this.#changes, changed, { signal })
    }
  }
}
