/*
 * Access to MCP servers that ask for OAuth.
 *
 * Owns: the token of each request, its renewal, and the login of a person (`login.ts`).
 * Boundary: the SDK speaks OAuth. `token-store.ts` keeps what people have given; what `client_credentials` gives is
 * only in the memory of the worker. A token reaches the header of a request, and nothing else.
 *
 * Invariants:
 * 1. A renewal is made once: by one call of a process, and one worker of a fleet. The others take its result.
 * 2. Access ends only when the authorization server says `invalid_grant`. After any other failure it stays.
 * 3. A secret and a refresh token are sent only to the issuer that the configuration, or the login, has bound them to,
 *    and only by https, except on this machine.
 * 4. A request that was refused with 401 was not executed.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type * as Sdk from '@modelcontextprotocol/client'
import type { AuthProvider, UnauthorizedContext } from './sdk-types.js'
import { defined } from '../../../../common/defined.js'
import { messageOf } from '../../../../common/errors.js'
import { grantOf, isSameIssuer, type ParsedOAuth } from './oauth-options.js'
import { oauthFetch } from './oauth-fetch.js'
import type { AccessVersion, StoredAccess, TokenStore } from './token-store.js'

/** No access: the request was not sent, or not executed. */
export class NotAuthorizedError extends Error {
  override readonly name = 'NotAuthorizedError'
}

export interface AuthorizedServer {
  readonly name: string
  readonly url: string
  readonly oauth: ParsedOAuth
  /** The secret of the client, read from its credential. */
  readonly clientSecret: string | undefined
  readonly tokens: TokenStore
}

/** What the transport of a server asks for tokens. */
export interface Authorization extends AuthProvider {
  /** The tokens in use, by name, so that they can be redacted. */
  readonly secrets: ReadonlyMap<string, string>
}

export function authorizationFor(sdk: typeof Sdk, server: AuthorizedServer): Authorization {
  return grantOf(server.oauth) === 'client_credentials'
    ? new ClientCredentials(sdk, server)
    : new StoredAuthorization(sdk, server)
}

/** Milliseconds before its end at which a token counts as expired. */
const marginMs = 30_000

class ClientCredentials implements Authorization {
  readonly #sdk: typeof Sdk
  readonly #server: AuthorizedServer
  #token: string | undefined
  #renewal: Promise<void> | undefined

  constructor(sdk: typeof Sdk, server: AuthorizedServer) {
    this.#sdk = sdk
    this.#server = server
  }

  get secrets(): ReadonlyMap<string, string> {
    return new Map(this.#token === undefined ? [] : [['oauth_access_token', this.#token]])
  }

  token(): Promise<string | undefined> {
    return Promise.resolve(this.#token)
  }

  /** Invariant 1. */
  onUnauthorized(context: UnauthorizedContext): Promise<void> {
    this.#renewal ??= this.#renew(context).finally(() => (this.#renewal = undefined))
    return this.#renewal
  }

  async #renew({ response, serverUrl }: UnauthorizedContext): Promise<void> {
    const { name, url, oauth, clientSecret = '' } = this.#server
    const { clientId = '', issuer = '', scopes } = oauth
    const { resourceMetadataUrl, scope: asked } = this.#sdk.extractWWWAuthenticateParams(response)
    const scope = scopes?.join(' ') ?? asked
    const provider = new this.#sdk.ClientCredentialsProvider({
      clientId,
      clientSecret,
      expectedIssuer: issuer, // invariant 3
      ...defined({ scope }),
    })
    try {
      const options = { serverUrl, ...defined({ resourceMetadataUrl, scope }), fetchFn: oauthFetch([url, issuer]) }
      await this.#sdk.auth(provider, options)
      this.#token = provider.tokens()?.access_token
    } catch (thrown) {
      throw new NotAuthorizedError(`MCP server ${name} gives no access to ${clientId}: ${messageOf(thrown)}`, {
        cause: thrown,
      })
    }
  }
}

/** The longest time to wait for another worker that renews. */
const waitMs = 70_000
const pollMs = 200

export class StoredAuthorization implements Authorization {
  readonly #sdk: typeof Sdk
  readonly #server: AuthorizedServer
  #current: AccessVersion | undefined
  #renewal: Promise<void> | undefined

  constructor(sdk: typeof Sdk, server: AuthorizedServer) {
    this.#sdk = sdk
    this.#server = server
  }

  get secrets(): ReadonlyMap<string, string> {
    const { accessToken, refreshToken } = this.#current?.access ?? {}
    return new Map(Object.entries(defined({ oauth_access_token: accessToken, oauth_refresh_token: refreshToken })))
  }

  async token(): Promise<string> {
    this.#current ??= await this.#server.tokens.latest(AbortSignal.timeout(waitMs))
    const { expiresAt, refreshToken } = this.#current.access ?? {}
    if (refreshToken !== undefined && expiresAt !== undefined && expiresAt - marginMs < Date.now())
      await this.#renewOnce()
    const { access } = this.#current
    if (access) return access.accessToken
    // A person may log in at any time.
    this.#current = undefined
    throw this.#loginNeeded('nobody has logged in')
  }

  onUnauthorized(): Promise<void> {
    return this.#renewOnce()
  }

  /** Invariant 1, in this process. */
  #renewOnce(): Promise<void> {
    this.#renewal ??= this.#renew(this.#current?.number ?? 0, AbortSignal.timeout(waitMs)).finally(
      () => (this.#renewal = undefined),
    )
    return this.#renewal
  }

  /** Invariant 1, over all workers. */
  async #renew(number: number, signal: AbortSignal): Promise<void> {
    const { tokens, name } = this.#server
    for (;;) {
      const latest = await tokens.latest(signal)
      if (latest.number !== number) {
        this.#current = latest
        if (latest.access) return
      }
      const { access } = latest
      if (!access) throw this.#loginNeeded('its access has ended')
      if (access.refreshToken === undefined) throw this.#loginNeeded('its access has ended, and can not be renewed')
      const release = await tokens.lease(number, signal)
      if (release) {
        try {
          const renewed = await this.#refresh(access)
          await tokens.replace(number, renewed, signal)
        } catch (thrown) {
          if (isInvalidGrant(thrown)) await tokens.replace(number, undefined, signal) // invariant 2
          await release()
          if (!isInvalidGrant(thrown))
            throw new NotAuthorizedError(
              `the access to MCP server ${name} could not be renewed: ${messageOf(thrown)}`,
              {
                cause: thrown,
              },
            )
        }
        continue
      }
      await delay(pollMs * (1 + Math.random()), undefined, { signal })
    }
  }

  async #refresh(access: StoredAccess): Promise<StoredAccess> {
    const { url, oauth, clientSecret } = this.#server
    const { authorizationServerUrl, issuer, resource, client, refreshToken = '' } = access
    const fetchFn = oauthFetch([url, ...(oauth.issuer === undefined ? [] : [oauth.issuer])])
    if (oauth.issuer !== undefined && !isSameIssuer(oauth.issuer, issuer))
      throw new Error(`the login was with ${issuer}, and the configuration names ${oauth.issuer}`)
    const metadata = await this.#sdk.discoverAuthorizationServerMetadata(authorizationServerUrl, { fetchFn })
    // Invariant 3.
    if (!isSameIssuer(metadata?.issuer ?? authorizationServerUrl, issuer)) throw new Error('its issuer has changed')
    const clientInformation =
      client ?? ({ client_id: oauth.clientId ?? '', ...defined({ client_secret: clientSecret }) } as const)
    const tokens = await this.#sdk.refreshAuthorization(authorizationServerUrl, {
      clientInformation,
      refreshToken,
      ...defined({ metadata, resource }),
      fetchFn,
    })
    return { ...access, ...accessOf(tokens), refreshToken: tokens.refresh_token ?? refreshToken }
  }

  #loginNeeded(why: string): NotAuthorizedError {
    const { name } = this.#server
    return new NotAuthorizedError(`MCP server ${name} needs a login, because ${why}: ptc mcp login ${name}`)
  }
}

/** The stored form of tokens. */
export function accessOf(
  tokens: Sdk.OAuthTokens,
): Pick<StoredAccess, 'accessToken' | 'refreshToken' | 'scope' | 'expiresAt'> {
  const { access_token: accessToken, refresh_token: refreshToken, scope, expires_in: seconds } = tokens
  const expiresAt = seconds === undefined ? undefined : Date.now() + seconds * 1_000
  return { accessToken, ...defined({ refreshToken, scope, expiresAt }) }
}

function isInvalidGrant(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'invalid_grant'
}
