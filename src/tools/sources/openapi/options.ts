import { z } from 'zod'
import type { Caller, Effect } from '../../../common/calls/calls.js'
import type { Duration } from '../../../common/text/duration.js'
import { callOptions, sourceName } from '../call-options.js'
import { credentialNamesIn } from '../credential-references.js'

/** How calls of an operation are made. An entry of an operation comes before that of its API. */
export interface OpenApiCallOptions {
  /**
   * Kind of the effect. Default: by the method: `read` for GET, HEAD and OPTIONS, `idempotent` for PUT and DELETE, `once`
   * for POST and PATCH.
   */
  readonly effect?: Effect
  /** Whether a person approves each call. Default: `never` for effect `read`, else `always`. */
  readonly approval?: 'always' | 'never'
  /** Timeout of one attempt. Default 60 seconds. */
  readonly timeout?: Duration
  /** As for `defineTool`. Default: both callers, documented for code. */
  readonly allowedCallers?: readonly Caller[]
  /**
   * The header in which the API takes an idempotency key, such as `Idempotency-Key`: each attempt of a call has the same
   * key. Then POST and PATCH have effect `idempotent`. Default: none.
   */
  readonly idempotencyKeyHeader?: string
  /**
   * True: the result of a call is `{ status, headers, body }`, for an API with pages, limits or versions in its headers.
   * Names are in small letters; cookies are left out. Default: the body alone.
   */
  readonly responseHeaders?: boolean
}

/** A client of OAuth 2 that gets its tokens by its own credentials (flow `clientCredentials`). */
export interface OAuthClient {
  /** `${NAME}` stands for a credential of the configuration, here and in `clientSecret`. */
  readonly clientId: string
  readonly clientSecret: string
  /** Default: none, with which the server chooses. */
  readonly scopes?: readonly string[]
  /** Where tokens are. Default: `tokenUrl` of the scheme in the document, whose host must have a public address. */
  readonly tokenUrl?: string
}

/** An API that an OpenAPI document describes. docs/guides/openapi.md describes the options. */
export interface OpenApiSource extends OpenApiCallOptions {
  /** OpenAPI 3.0 or later, as JSON or YAML: a file, relative to the configuration, or a URL. */
  readonly document: string
  /** Headers of the request for a `document` that is a URL. `${NAME}` stands for a credential of the configuration. */
  readonly documentHeaders?: Readonly<Record<string, string>>
  /**
   * Where the API is, such as `https://api.github.com`. Default: the servers of the document. Only a host that is named
   * here may have a private address.
   */
  readonly baseUrl?: string
  /** Values of variables in the servers of the document. Default: those of the document. */
  readonly serverVariables?: Readonly<Record<string, string>>
  /**
   * Operations that runs may have, by `operationId`, or by method and path (`GET /pets/{id}`); `*` stands for any
   * characters. Operations of `allow`, `tags` and `paths` add up. Default: all operations of the document.
   */
  readonly allow?: readonly string[]
  /** The operations with one of these tags; `*` stands for any characters. */
  readonly tags?: readonly string[]
  /** The operations of these paths, as the document has them; `*` stands for any characters. */
  readonly paths?: readonly string[]
  /**
   * Credentials by name of the security scheme: a token or a key, `USER:PASSWORD` for HTTP Basic, or the client of OAuth 2
   * that gets tokens. `${NAME}` stands for a credential of the configuration.
   */
  readonly credentials?: Readonly<Record<string, string | OAuthClient>>
  /** Headers of each request. `${NAME}` stands for a credential of the configuration. */
  readonly headers?: Readonly<Record<string, string>>
  /** Options of single operations, by `operationId`, or by method and path. */
  readonly operations?: Readonly<Record<string, OpenApiCallOptions>>
}

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/, 'must be the name of a header')
const texts = z.record(z.string().min(1), z.string().min(1))
const headers = z.record(headerName, z.string().min(1))
const patterns = z.array(z.string().min(1)).min(1).exactOptional()

const operationOptions = {
  ...callOptions,
  idempotencyKeyHeader: headerName.exactOptional(),
  responseHeaders: z.boolean().exactOptional(),
}

const isPlainUrl = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  return isHttp && `${url.username}${url.password}${url.search}${url.hash}` === ''
}

const plainUrl = z.string().refine(isPlainUrl, 'must be an http or https URL without user, query and fragment')

const oauthClient = z.strictObject({
  clientId: z.string().min(1),
  clientSecret: z.string().min(1),
  scopes: z.array(z.string().regex(/^[\x21\x23-\x5B\x5D-\x7E]+$/, 'must be a scope')).default([]),
  tokenUrl: plainUrl.exactOptional(),
})

export type ParsedOAuthClient = z.output<typeof oauthClient>

const source = z.strictObject({
  ...operationOptions,
  document: z.string().min(1),
  documentHeaders: headers.default({}),
  baseUrl: plainUrl.exactOptional(),
  serverVariables: texts.default({}),
  allow: patterns,
  tags: patterns,
  paths: patterns,
  credentials: z.record(z.string().min(1), z.union([z.string().min(1), oauthClient])).default({}),
  headers: headers.default({}),
  operations: z.record(z.string().min(1), z.strictObject(operationOptions)).default({}),
})

/** APIs by name. */
export const openApiOption = z.record(sourceName, source)

export type ParsedOpenApiSource = z.output<typeof source>

/** The names of the credentials that calls of the API may need. */
export function credentialsOfCalls({ credentials, headers }: ParsedOpenApiSource): readonly string[] {
  const ofSchemes = Object.values(credentials).flatMap((each) =>
    typeof each === 'string' ? [each] : [each.clientId, each.clientSecret],
  )
  return credentialNamesIn([...ofSchemes, ...Object.values(headers)])
}
