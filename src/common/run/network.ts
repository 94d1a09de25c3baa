/*
 * The rules by which the code of a run may use a network, as a run records them. src/config/options/network.ts reads
 * them from a configuration, and src/sandbox/network applies them.
 */

/** Hosts that code may reach, and how. */
export interface NetworkTarget {
  /** A name in small letters and Punycode, or an address in its usual spelling. */
  readonly host: string
  /** The target is every subdomain of `host`, and not `host` itself. Undefined: it is `host`. */
  readonly subdomains?: true
  /** Undefined: 80 and 443. */
  readonly port?: number
  /** Methods of plain requests, in capital letters. Undefined: all, and CONNECT. */
  readonly methods?: readonly string[]
  /** Headers that the proxy sets. `${NAME}` stands for a credential. Undefined: none. */
  readonly headers?: Readonly<Record<string, string>>
  /** Code sends plain requests, and the proxy sends them on by TLS. */
  readonly https?: true
}

export interface NetworkRules {
  readonly allow: readonly NetworkTarget[]
  readonly requestsPerMinute: number
  /** Bytes of one request and its response, or of one CONNECT in both directions. */
  readonly bytesPerRequest: number
}
