import { z } from 'zod'
import type { Caller, Effect } from '../../../common/calls/calls.js'
import type { Duration } from '../../../common/text/duration.js'
import { callOptions, sourceName } from '../call-options.js'
import { credentialNamesIn } from '../credential-references.js'
import { isSecureUrl, type McpOAuthOptions, oauthOption } from './oauth/oauth-options.js'

/** How calls of a tool of a server are made. An entry of a tool comes before that of its server. */
export interface McpToolOptions {
  /**
   * Kind of the effect. Default: that of the server, then the annotations of the tool if the server is `trusted`, then
   * `once`.
   */
  readonly effect?: Effect
  /**
   * Whether a person approves each call. Default: that of the server, then the annotations of the tool if the server is
   * `trusted`, then `always`.
   */
  readonly approval?: 'always' | 'never'
  /** Timeout of one attempt. Default 60 seconds. */
  readonly timeout?: Duration
  /** As for `defineTool`. Default: both callers, documented for code. */
  readonly allowedCallers?: readonly Caller[]
}

/** Limits of what a server may ask the model for in one run, by all of its tools. The budget of the run counts it, too. */
export interface McpSamplingOptions {
  /** Maximum number of requests. Default 20. */
  readonly requests?: number
  /** Maximum number of tokens of requests and replies. Default 100,000. */
  readonly tokens?: number
}

/** Options of every MCP server. */
export interface McpServerBase extends McpToolOptions {
  /**
   * Names of the server's tools that runs may have; `get_*` stands for all names that begin with `get_`. Default: all
   * tools of the server.
   */
  readonly allow?: readonly string[]
  /**
   * The annotations of the server's tools decide about effect and approval: a tool with `readOnlyHint` has effect
   * `read`, one with `idempotentHint` effect `idempotent`; only a tool that may destroy needs approval. Default false: a
   * server could say anything about its tools.
   */
  readonly trusted?: boolean
  /**
   * Whether a worker does not start while the server is not available. Default true. With false the worker starts, tries
   * again in the background, and runs that begin meanwhile have a tool `{server}__unavailable`, which says what is
   * missing.
   */
  readonly required?: boolean
  /**
   * Whether the server may ask people questions during a call. With `ask`, a question waits for an answer, as a call
   * waits for its approval; then the call is made again, with the answers. So choose it only for a server that asks
   * before it acts: what it does before its question, it does again. Default `refuse`: the server is told that there is
   * nobody to ask.
   */
  readonly elicitation?: 'ask' | 'refuse'
  /**
   * The server may ask the model of the run for replies during a call (sampling), within these limits. Default: it may
   * not.
   */
  readonly sampling?: McpSamplingOptions
  /** Options of single tools, by the server's name of the tool. */
  readonly tools?: Readonly<Record<string, McpToolOptions>>
}

/** A server that the worker starts, and talks to over its standard input and output. */
export interface McpProcessOptions extends McpServerBase {
  readonly command: string
  readonly args?: readonly string[]
  /**
   * Environment of the process. `${NAME}` stands for a credential of the configuration. The process gets no other
   * variable of the worker, except for HOME, LOGNAME, PATH, SHELL, TERM and USER.
   */
  readonly env?: Readonly<Record<string, string>>
  /** Working folder, relative to the configuration. Default: the folder of the configuration. */
  readonly cwd?: string
  /**
   * The server runs in a Docker container of the sandbox image, with the hardening of a sandbox: without network, files
   * of the host, and variables of the worker. Default false.
   */
  readonly sandboxed?: boolean
}

/** A server that is reached by Streamable HTTP. */
export interface McpHttpOptions extends McpServerBase {
  readonly url: string
  /** Headers of every request. `${NAME}` stands for a credential of the configuration. */
  readonly headers?: Readonly<Record<string, string>>
  /** Access by OAuth 2.1, for a server that asks for it. Its URL needs https, except on this machine. */
  readonly oauth?: McpOAuthOptions
}

/** An MCP server. docs/guides/mcp.md describes it. */
export type McpServer = McpProcessOptions | McpHttpOptions

/** The server of Temporal accepts 2,000 updates in one history. */
const maxSamplingRequests = 1_000

const serverOptions = {
  ...callOptions,
  allow: z.array(z.string().min(1)).exactOptional(),
  trusted: z.boolean().default(false),
  required: z.boolean().default(true),
  elicitation: z.enum(['ask', 'refuse']).default('refuse'),
  sampling: z
    .strictObject({
      requests: z.int().min(1).max(maxSamplingRequests).default(20),
      tokens: z.int().min(1).default(100_000),
    })
    .exactOptional(),
  tools: z.record(z.string(), z.strictObject(callOptions)).default({}),
}

const texts = z.record(z.string().min(1), z.string())

const serverOption = z.union(
  [
    z
      .strictObject({
        ...serverOptions,
        command: z.string().min(1),
        args: z.array(z.string()).default([]),
        env: texts.default({}),
        cwd: z.string().min(1).exactOptional(),
        sandboxed: z.boolean().default(false),
      })
      .refine(({ cwd, sandboxed }) => !sandboxed || cwd === undefined, 'a sandboxed server has no `cwd` of the host'),
    z
      .strictObject({
        ...serverOptions,
        url: z.url({ protocol: /^https?$/ }),
        headers: texts.default({}),
        oauth: oauthOption.exactOptional(),
      })
      .refine(({ url, oauth }) => oauth === undefined || isSecureUrl(url), 'a server with oauth needs https'),
  ],
  'must have `command` or `url`, and only options of docs/guides/mcp.md',
)

/** MCP servers by name. */
export const mcpOption = z.record(sourceName, serverOption)

export type ParsedMcpServer = z.output<typeof serverOption>

/** The names of the credentials in headers, environment and `oauth` of a server. */
export function credentialsIn(server: ParsedMcpServer): readonly string[] {
  if (!('url' in server)) return credentialNamesIn(Object.values(server.env))
  const { headers, oauth } = server
  return credentialNamesIn([...Object.values(headers), oauth?.clientSecret ?? ''])
}
