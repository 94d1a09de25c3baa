import type { PtcError } from '../../common/errors.js'
import type { TemporalConnectionOptions } from './probe.js'

/** A Temporal server that answered, and how to reach it. */
export interface TemporalServer {
  /** `host:port` of its gRPC service. */
  readonly address: string
  readonly namespace: string
  /** For `Connection.connect` and `NativeConnection.connect`; the address and what a profile says of TLS and keys. */
  readonly connectionOptions: TemporalConnectionOptions
  /** Address of its web UI; undefined when it has none or we can't know. */
  readonly uiUrl: string | undefined
  /** `configured`: the user named it. `running`: a dev server of another process. `started`: ours. */
  readonly origin: 'configured' | 'running' | 'started'
  /** Settles when a server we started ends by itself, with its last log lines; otherwise never. */
  readonly lost: Promise<PtcError>
  /** Ends the server if we started it. Idempotent. */
  close(): Promise<void>
}

/** A server that is not ours to end. */
export function foreignServer(
  server: Pick<TemporalServer, 'namespace' | 'connectionOptions' | 'uiUrl'> & {
    readonly address: string
    readonly origin: 'configured' | 'running'
  },
): TemporalServer {
  return { ...server, lost: new Promise(() => {}), close: () => Promise.resolve() }
}
