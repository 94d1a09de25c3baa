/*
 * The network of the code of a run: the option by which a configuration allows hosts, and the rules that a run records.
 * src/config/options/network.ts reads the option, and src/sandbox/network applies the rules.
 */
import type { CallerIdentity } from '../calls/calls.js'
import type { Externalizable } from '../json/external-value.js'

/** Which hosts code may reach, by HTTP and HTTPS. */
export interface NetworkOption {
  /**
   * `api.example.com` is this host, `*.example.com` its subdomains only, `10.1.2.3` this address; `:8443` names the port,
   * instead of 80 and 443. An address that is not public is reached only if it has an entry. An object adds conditions:
   * `{ host, methods, headers, https }`.
   */
  readonly allow: readonly (string | NetworkHostOption)[]
  /** Requests of one sandbox in a minute. Default 600. */
  readonly requestsPerMinute?: number
  /** Bytes of one request and its response, or of one connection. Default 256 MiB. */
  readonly bytesPerRequest?: number
}

/** A host with conditions. Code sends plain requests to it (`http://`): the proxy can't look into TLS. */
export interface NetworkHostOption {
  /** As in the texts of `allow`. */
  readonly host: string
  /** The only methods that are allowed, such as `['GET', 'HEAD']`. Default: all. */
  readonly methods?: readonly string[]
  /** Headers that the proxy sets. `${NAME}` stands for a credential of the configuration, which code does not see. */
  readonly headers?: Readonly<Record<string, string>>
  /** The proxy sends the requests on by HTTPS. Default false. */
  readonly https?: boolean
}

/** A host that code may reach, and how. */
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
  readonly bytesPerRequest: number
}

/** The network of a run, as its configuration records it. */
export interface RunNetwork {
  /** {@link NetworkRules} */
  readonly rules: Externalizable
  /** Describes the hosts for the model. */
  readonly description: string
}

/** The network in the request for a step: its rules, and the run for which a credential is read. */
export type StepNetwork = Pick<RunNetwork, 'rules'> & CallerIdentity
