import { randomBytes, timingSafeEqual } from 'node:crypto'
import type * as Sdk from '@modelcontextprotocol/client'
import type { OAuthClientProvider } from '@modelcontextprotocol/client'
import { defined } from '../../../../common/defined.js'
import { messageOf, PtcError } from '../../../../common/errors.js'
import { toOneLine, truncateEnd } from '../../../../common/text/text.js'
import { accessOf, type AuthorizedServer } from './authorization.js'
import { oauthFetch } from './oauth-fetch.js'
import { isSameIssuer, isSecureUrl } from './oauth-options.js'

type Client = Sdk.StoredOAuthClientInformation

/** A login that a person has to confirm in a browser. */
export interface Login {
  /** The page of the authorization server. */
  readonly url: URL
  /**
   * Ends the login with the parameters of the redirect, and stores the access.
   *
   * @throws PtcError RUN_INPUT_INVALID when they are not those of this login, or the person refused
   */
  finish(parameters: URLSearchParams, signal: AbortSignal): Promise<void>
}

/**
 * Begins a login: finds the authorization server, and registers a client if the configuration has none.
 *
 * @param redirectUrl an address on this machine
 * @throws PtcError TOOL_SOURCE_FAILED
 */
export async function beginLogin(sdk: typeof Sdk, server: AuthorizedServer, redirectUrl: string): Promise<Login> {
  const { name, url, oauth, clientSecret, tokens } = server
  const { clientId, issuer, scopes } = oauth
  const fetchFn = oauthFetch([url, ...(issuer === undefined ? [] : [issuer])])
  const state = randomBytes(32).toString('base64url')
  const configured: Client | undefined =
    clientId === undefined ? undefined : { client_id: clientId, ...defined({ client_secret: clientSecret, issuer }) }
  let registered: Client | undefined
  let verifier = ''
  let page: URL | undefined
  let discovery: Sdk.OAuthDiscoveryState | undefined
  let resource: string | undefined
  let given: Sdk.StoredOAuthTokens | undefined
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: {
      client_name: 'durable-ptc',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: clientSecret === undefined ? 'none' : 'client_secret_basic',
      ...defined({ scope: scopes?.join(' ') }),
    },
    state: () => state,
    clientInformation: () => configured ?? registered,
    ...(configured === undefined && { saveClientInformation: (client: Client) => void (registered = client) }),
    tokens: () => undefined,
    saveTokens: (saved) => void (given = saved),
    redirectToAuthorization: (found) => void (page = found),
    saveCodeVerifier: (saved) => void (verifier = saved),
    codeVerifier: () => verifier,
    saveDiscoveryState: (found) => void (discovery = found),
    discoveryState: () => discovery,
    saveResourceUrl: (found: string) => void (resource = found),
  }
  const issuerOf = (): string =>
    discovery?.authorizationServerMetadata?.issuer ?? discovery?.authorizationServerUrl ?? ''
  const options = { serverUrl: url, fetchFn, ...(await challengeOf(sdk, url, fetchFn, scopes)) }
  try {
    await sdk.auth(provider, options)
  } catch (thrown) {
    throw failed(name, messageOf(thrown), thrown)
  }
  if (issuer !== undefined && !isSameIssuer(issuerOf(), issuer))
    throw failed(name, `its issuer is ${issuerOf()}, and the configuration names ${issuer}`)
  if (!page) throw failed(name, 'it asks for no login')
  if (!isSecureUrl(page.href)) throw failed(name, `its page ${page.origin} has no https`)
  return {
    url: page,
    async finish(parameters, signal) {
      if (!isSame(parameters.get('state') ?? '', state)) throw refused('its state is that of another login')
      const error = parameters.get('error')
      if (error !== null) throw refused([error, parameters.get('error_description') ?? ''].join(' ').trim())
      const code = parameters.get('code')
      if (code === null || code === '') throw refused('it has no code')
      const iss = parameters.get('iss') ?? undefined
      try {
        await sdk.auth(provider, { ...options, authorizationCode: code, ...defined({ iss }) })
      } catch (thrown) {
        throw failed(name, messageOf(thrown), thrown)
      }
      if (!given) throw failed(name, 'it gave no token')
      const access = {
        issuer: issuerOf(),
        authorizationServerUrl: discovery?.authorizationServerUrl ?? '',
        ...defined({ resource, client: registered }),
        ...accessOf(given),
      }
      for (;;) {
        const { number } = await tokens.latest(signal)
        if (await tokens.replace(number, access, signal)) return
      }
    },
  }
}

/** What the server says to a request without a token: where its metadata is, and which scopes it wants. */
async function challengeOf(
  sdk: typeof Sdk,
  url: string,
  fetchFn: ReturnType<typeof oauthFetch>,
  scopes: readonly string[] | undefined,
): Promise<{ readonly resourceMetadataUrl?: URL; readonly scope?: string }> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  const response = await fetchFn(url, { method: 'POST', headers, body }).catch(() => undefined)
  const { resourceMetadataUrl, scope } =
    response?.status === 401 ? sdk.extractWWWAuthenticateParams(response) : ({} as ReturnType<typeof noChallenge>)
  return defined({ resourceMetadataUrl, scope: scopes?.join(' ') ?? scope })
}

function noChallenge(): { readonly resourceMetadataUrl?: URL; readonly scope?: string } {
  return {}
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.byteLength === b.byteLength && timingSafeEqual(a, b)
}

function failed(name: string, why: string, cause?: unknown): PtcError {
  const text = truncateEnd(toOneLine(why), 500)
  return new PtcError('TOOL_SOURCE_FAILED', `MCP server ${name}: the login failed: ${text}`, { cause })
}

function refused(why: string): PtcError {
  return new PtcError('RUN_INPUT_INVALID', `the login was refused: ${truncateEnd(toOneLine(why), 500)}`)
}
