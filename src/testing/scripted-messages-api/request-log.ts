import { EventEmitter, once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { redactedHeaders } from './request/check-headers.js'

/** State or outcome of a request. */
export type RequestOutcome =
  /** The response is being delayed, streamed or stalled. */
  | 'pending'
  | 'answered'
  /** Rejected for the reason in `error`, as the real API would. */
  | 'rejected'
  /** A scripted fault was applied. */
  | 'faulted'
  /** The client disconnected, or the server was closed, before the end. */
  | 'abandoned'

/** A received request. Credentials in headers are replaced by `redacted`. */
export interface RecordedRequest {
  /** Number from 1, in order of arrival. */
  readonly number: number
  readonly requestId: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The parsed body, or its text when it is not JSON. */
  readonly body: unknown
  /** Digest of the conversation so far, the same for all attempts of a turn; null for a request rejected earlier. */
  readonly conversation: string | null
  /** Number of assistant messages in the conversation; null for a request rejected earlier. */
  readonly assistantMessages: number | null
  /** Attempt number for this conversation state, from 1; null for a request rejected earlier. */
  readonly attempt: number | null
  readonly outcome: RequestOutcome
  /** Type and message of the error reply. */
  readonly error: { readonly type: string; readonly message: string } | null
}

type MutableRequest = { -readonly [Key in keyof RecordedRequest]: RecordedRequest[Key] }

const changed = 'changed'

/** The received requests, for tests to inspect and to wait for. */
export class RequestLog {
  readonly #requests: MutableRequest[] = []
  readonly #changes = new EventEmitter().setMaxListeners(0)
  readonly #attempts = new Map<string, number>()

  get requests(): readonly RecordedRequest[] {
    return this.#requests
  }

  add(requestId: string, method: string, path: string, headers: IncomingHttpHeaders): RecordedRequest {
    const entry: MutableRequest = {
      number: this.#requests.length + 1,
      requestId,
      method,
      path,
      headers: redactedHeaders(headers),
      body: null,
      conversation: null,
      assistantMessages: null,
      attempt: null,
      outcome: 'pending',
      error: null,
    }
    this.#requests.push(entry)
    return entry
  }

  update(entry: RecordedRequest, change: Partial<Omit<RecordedRequest, 'number' | 'requestId'>>): void {
    Object.assign(entry, change)
    this.#changes.emit(changed)
  }

  /** Counts an attempt for a conversation state. */
  nextAttempt(conversation: string): number {
    const attempt = (this.#attempts.get(conversation) ?? 0) + 1
    this.#attempts.set(conversation, attempt)
    return attempt
  }

  /** Returns the first past or future request that meets the condition. */
  async waitFor(condition: (request: RecordedRequest) => boolean, signal: AbortSignal): Promise<RecordedRequest> {
    for (;;) {
      signal.throwIfAborted()
      const found = this.#requests.find(condition)
      if (found !== undefined) return found
      await once(this.#changes, changed, { signal })
    }
  }
}
