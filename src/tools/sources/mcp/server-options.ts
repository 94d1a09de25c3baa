import { z } from 'zod'
import type { Caller, Effect } from '../../../common/calls/calls.js'
import type { Duration } from '../../../common/text/duration.js'
import { durationOption } from '../../../platform/option-schemas.js'
import { credentialNamePattern } from '../../credentials/credential-source.js'

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
}

/** A server that is reached by Streamable HTTP. */
export interface McpHttpOptions extends McpServerBase {
  readonly url: string
  /** Headers of every request. `${NAME}` stands for a credential of the configuration. */
  readonly headers?: Readonly<Record<string, string>>
}

/** An MCP server. docs/guides/mcp.md describes it. */
export type McpServer = McpProcessOptions | McpHttpOptions

const toolOptions = {
  effect: z.enum(['read', 'idempotent', 'once']).exactOptional(),
  approval: z.enum(['always', 'never']).exactOptional(),
  timeout: durationOption('60s').exactOptional(),
  allowedCallers: z
    .array(z.enum(['direct', 'code_execution']))
    .min(1)
    .exactOptional(),
}

const serverOptions = {
  ...toolOptions,
  allow: z.array(z.string().min(1)).exactOptional(),
  trusted: z.boolean().default(false),
  tools: z.record(z.string(), z.strictObject(toolOptions)).default({}),
}

const texts = z.record(z.string().min(1), z.string())

const serverOption = z.union(
  [
    z.strictObject({
      ...serverOptions,
      command: z.string().min(1),
      args: z.array(z.string()).default([]),
      env: texts.default({}),
      cwd: z.string().min(1).exactOptional(),
    }),
    z.strictObject({ ...serverOptions, url: z.url({ protocol: /^https?$/ }), headers: texts.default({}) }),
  ],
  'must have `command` or `url`, and only options of docs/guides/mcp.md',
)

/** Name of a server: the first part of the names of its tools. */
const serverName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]{0,31}$/, 'must be 1 to 32 letters, digits and "_", of which the first is a letter')

/** MCP servers by name. */
export const mcpOption = z.record(serverName, serverOption)

export type ParsedMcpServer = z.output<typeof serverOption>

/** The names of the credentials in headers and environment of a server. */
export function credentialsIn(server: ParsedMcpServer): readonly string[] {
  const values = Object.values('url' in server ? server.headers : server.env)
  return [...new Set(values.flatMap((value) => [...value.matchAll(credentialReference)].map(([, name = '']) => name)))]
}

/** Replaces the references to credentials in the values. */
export function withCredentials(
  texts: Readonly<Record<string, string>>,
  credentials: ReadonlyMap<string, string>,
): Record<string, string> {
  const fill = (text: string) => text.replaceAll(credentialReference, (_, name: string) => credentials.get(name) ?? '')
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text)]))
}

const credentialReference = new RegExp(`\\$\\{(${credentialNamePattern.source.slice(1, -1)})\\}`, 'g')
