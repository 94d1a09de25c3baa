import type { ToolContext } from '../../../tool-context.js'
import { Redactor } from '../../../credentials/redactor.js'
import { credentialNamesIn, fillCredentials } from '../../credential-references.js'
import type { UsedScheme } from '../document/security.js'
import type { Operation } from '../operation.js'
import type { ParsedOAuthClient, ParsedOpenApiSource } from '../options.js'
import { ClientTokens, type TokenRequest } from './client-tokens.js'
import { encodeStrict, type Pair } from './encode-value.js'

/** What the configuration adds to each request. */
export interface GivenParts {
  readonly headers: Readonly<Record<string, string>>
  readonly query: readonly Pair[]
  readonly cookies: readonly Pair[]
  /** Replaces the texts that are sent: not only the values of credentials, but also what is made of them. */
  readonly redactor: Redactor
  /** The token of an earlier call. The API may have ended it. */
  readonly keptToken: TokenRequest | undefined
}

/** The tokens of all APIs of this process. */
export const clientTokens = new ClientTokens()

/**
 * Reads the credentials of an operation for one attempt.
 *
 * @throws NotSentError without a token of OAuth; the reason of the signal
 */
export async function givenParts(
  { schemes }: Pick<Operation, 'schemes'>,
  { credentials, headers, baseUrl }: Pick<ParsedOpenApiSource, 'credentials' | 'headers' | 'baseUrl'>,
  { credential, signal }: Pick<ToolContext, 'credential' | 'signal'>,
): Promise<GivenParts> {
  const filled: Record<string, string> = {}
  const query: Pair[] = []
  const cookies: Pair[] = []
  const secrets = new Map<string, string>()
  let keptToken: TokenRequest | undefined
  for (const scheme of schemes) {
    const template = credentials[scheme.name] ?? ''
    if (typeof template !== 'string') {
      const request = tokenRequestOf(scheme, template, { credential, baseUrl })
      const { token, isKept } = await clientTokens.get(request, signal)
      if (isKept) keptToken = request
      secrets.set(scheme.name, token)
      filled['authorization'] = `Bearer ${token}`
      continue
    }
    const value = fillCredentials(template, credential)
    const sent = scheme.kind === 'basic' ? Buffer.from(value).toString('base64') : value
    // A value that is a credential as a whole has its name.
    const [name = scheme.name] = credentialNamesIn([template]).filter((each) => template === `\${${each}}`)
    secrets.set(name, value)
    if (scheme.kind === 'bearer') filled['authorization'] = `Bearer ${sent}`
    else if (scheme.kind === 'basic') filled['authorization'] = `Basic ${sent}`
    else if (scheme.location === 'header') filled[scheme.parameter.toLowerCase()] = sent
    else (scheme.location === 'query' ? query : cookies).push([encodeStrict(scheme.parameter), encodeStrict(sent)])
  }
  for (const [name, template] of Object.entries(headers)) {
    const value = fillCredentials(template, credential)
    filled[name.toLowerCase()] = value
    if (value !== template) secrets.set(`header ${name}`, value)
  }
  const long = [...secrets].filter(([, value]) => value.length >= minCharacters)
  return { headers: filled, query, cookies, redactor: new Redactor(new Map(long)), keptToken }
}

function tokenRequestOf(
  scheme: UsedScheme,
  { clientId, clientSecret, scopes, tokenUrl }: ParsedOAuthClient,
  { credential, baseUrl }: { readonly credential: (name: string) => string; readonly baseUrl: string | undefined },
): TokenRequest {
  const url = tokenUrlOf(scheme, tokenUrl)
  return {
    tokenUrl: url,
    isConfigured: tokenUrl !== undefined || (baseUrl !== undefined && new URL(baseUrl).origin === url.origin),
    clientId: fillCredentials(clientId, credential),
    clientSecret: fillCredentials(clientSecret, credential),
    scopes,
  }
}

/** @throws Error for a scheme whose tokens a client can't get */
export function tokenUrlOf(scheme: UsedScheme | undefined, configured: string | undefined): URL {
  const url = configured ?? (scheme?.kind === 'bearer' ? scheme.tokenUrl : undefined)
  if (scheme?.kind !== 'bearer') throw new Error('it takes no token')
  if (url === undefined) throw new Error('the document has no token URL for clients: set tokenUrl')
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed?.protocol === 'https:' || (configured !== undefined && parsed?.protocol === 'http:')) return parsed
  throw new Error(`its token URL ${url.slice(0, 200)} is not https: set tokenUrl`)
}

/** Shorter texts could be ordinary ones. */
const minCharacters = 8
