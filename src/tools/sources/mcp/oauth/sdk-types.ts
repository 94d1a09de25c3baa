import type { StreamableHTTPClientTransportOptions } from '@modelcontextprotocol/client'

/** The SDK exports neither of these for a provider of one's own. */
export type AuthProvider = Extract<
  NonNullable<StreamableHTTPClientTransportOptions['authProvider']>,
  { token(): Promise<string | undefined> }
>

export type UnauthorizedContext = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0]
