import type { PtcError } from '../common/errors.js'
import type { TemporalConnectionOptions } from './probe.js'

/** A Temporal server that answered, and its connection settings. */
export interface TemporalServer {
  /** `host:port` of its gRPC service. */
  readonly address: string
  readonly namespace: string
  /** Options for `Connection.connect` and `NativeConnection.connect`: address, TLS settings and API key. */
  readonly connectionOptions: TemporalConnectionOptions
  /** Address of its web UI; undefined when it has none or the address is unknown. */
  readonly uiUrl: string | undefined
  /** `configured`: named by the user. `running`: a dev server of another process. `started`: by this process. */
  readonly origin: 'configured' | 'running' | 'started'
  /** Resolves with the last log lines when a server that this process started ends by itself; otherwise never. */
  readonly unexpectedExit: Promise<PtcError>
  /** Ends the server if this process started it. Idempotent. */
  close(): Promise<void>
}

/** A server that this process did not start and does not end. */
export function existingServer(
  server: Pick<TemporalServer, 'namespace' | 'connectionOptions' | 'uiUrl'> & {
    readonly address: string
    readonly origin: 'configured' | 'running'
  },
): TemporalServer {
  return { ...server, unexpectedExit: new Promise(() => {}), close: () => Promise.resolve() }
}
