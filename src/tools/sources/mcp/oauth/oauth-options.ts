import { z } from 'zod'

/** How a server's authorization server gives access. Only for a server with `https`, or on this machine. */
export interface McpOAuthOptions {
  /**
   * `client_credentials`: the worker gets access by itself, as `clientId` with `clientSecret`. `authorization_code`: a
   * person gives access with `ptc mcp login SERVER`. Default: the first with a `clientSecret`, else the second.
   */
  readonly grant?: 'client_credentials' | 'authorization_code'
  /** The client that is registered with the authorization server. Default: `ptc mcp login` registers one. */
  readonly clientId?: string
  /** Its secret. `${NAME}` stands for a credential of the configuration. Needs `clientId` and `issuer`. */
  readonly clientSecret?: string
  /**
   * The issuer of the authorization server, such as `https://login.example.com`. Another one gets neither the secret nor
   * a login. Default, without a secret: the server names it.
   */
  readonly issuer?: string
  /** Default: what the server asks for. */
  readonly scopes?: readonly string[]
}

export const oauthOption = z
  .strictObject({
    grant: z.enum(['client_credentials', 'authorization_code']).exactOptional(),
    clientId: z.string().min(1).exactOptional(),
    clientSecret: z.string().min(1).exactOptional(),
    issuer: z
      .url({ protocol: /^https?$/ })
      .refine(isSecureUrl, 'must have https, except on this machine')
      .exactOptional(),
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5B\x5D-\x7E]+$/, 'must be a scope'))
      .min(1)
      .exactOptional(),
  })
  .refine(
    ({ clientSecret, clientId, issuer }) =>
      clientSecret === undefined || (clientId !== undefined && issuer !== undefined),
    'a clientSecret needs a clientId and an issuer',
  )
  .refine(
    ({ grant, clientSecret }) => grant !== 'client_credentials' || clientSecret !== undefined,
    'client_credentials needs a clientSecret',
  )

export type ParsedOAuth = z.output<typeof oauthOption>

export function grantOf({ grant, clientSecret }: ParsedOAuth): 'client_credentials' | 'authorization_code' {
  return grant ?? (clientSecret === undefined ? 'authorization_code' : 'client_credentials')
}

/** Whether nobody on the way can read what is sent to the URL. */
export function isSecureUrl(text: string): boolean {
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackName(hostname))
}

export function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}

/** Whether two texts name the same issuer. A slash at the end makes no other one. */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '')
}
