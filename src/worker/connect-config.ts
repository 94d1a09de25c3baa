import type { ClientConnectConfig } from '@temporalio/envconfig'

/** The connection of a worker to a Temporal server. */
export interface ConnectConfig {
  /** `host:port` of its gRPC service. */
  readonly address: string
  readonly namespace: string
  /** Options for `NativeConnection.connect`: address, TLS settings and API key. */
  readonly connectionOptions: ClientConnectConfig['connectionOptions']
}
