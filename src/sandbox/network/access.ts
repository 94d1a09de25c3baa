import type { NetworkRules } from '../../common/run/network.js'
import type { RefusalRule } from './policy.js'

/** What the code of a step may do with the network, and who learns of it. The activity of the step gives it. */
export interface NetworkAccess {
  readonly rules: NetworkRules
  /** Returns the headers with the values of the credentials that they name. @throws PtcError CREDENTIAL_UNAVAILABLE */
  readonly fillHeaders: (
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => Promise<Readonly<Record<string, string>>>
  /**
   * Stores an event of a request. A request goes out when its `request.started` is stored.
   *
   * @param request number of the request in the step, from 1
   */
  readonly observe: (request: number, event: RequestEvent) => Promise<void>
}

/** What a request wants. `method`: CONNECT for a connection that the proxy can't read. */
interface Requested {
  /** Empty when the request names no host. */
  readonly host: string
  readonly port: number
  readonly method: string
}

interface Transferred {
  /** Bytes of bodies, or of a whole connection. */
  readonly bytesSent: number
  readonly bytesReceived: number
  readonly durationMs: number
}

export type RequestEvent = Requested &
  (
    | { readonly type: 'request.started' }
    | ({ readonly type: 'request.completed'; readonly status: number } & Transferred)
    | ({ readonly type: 'request.failed'; readonly reason: FailureReason } & Transferred)
    | { readonly type: 'request.refused'; readonly rule: RefusalRule }
  )

/**
 * Why a request that was allowed did not come to its end. `connection`: of the target, of its TLS, or of the program.
 */
export type FailureReason = 'connection' | 'idle' | 'bytes'
