import type { ClientConnectConfig } from '@temporalio/envconfig'

/** How a worker connects to a Temporal server. */
export interface ConnectConfig {
  /** `host:port` of its gRPC service. */
  readonly address: string
  readonly namespace: string
  /** For `NativeConnection.connect`: address, TLS settings and API key. */
  readonly connectionOptions: ClientConnectConfig['connectionOptions']
}
