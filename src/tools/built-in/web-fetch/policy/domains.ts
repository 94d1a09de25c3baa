import { isIP } from 'node:net'
import { z } from 'zod'

/**
 * A domain of `allow` or `deny`, in the form that `new URL` gives to a host: lower case, Punycode.
 *
 * | entry | matches |
 * |---|---|
 * | `example.com` | `example.com` and its subdomains |
 * | `*.example.com` | its subdomains only |
 * | `192.0.2.7` | this address only, in any spelling |
 */
export interface DomainPattern {
  readonly host: string
  readonly isExact: boolean
  readonly isSubdomainOnly: boolean
}

export const domainPattern = z
  .string()
  .min(1)
  .max(253)
  .transform((text, context): DomainPattern => {
    const isSubdomainOnly = text.startsWith('*.')
    const host = hostOf(isSubdomainOnly ? text.slice(2) : text)
    const isAddress = host !== undefined && isIP(host) !== 0
    if (host !== undefined && !(isAddress && isSubdomainOnly)) return { host, isExact: isAddress, isSubdomainOnly }
    context.addIssue({ code: 'custom', message: 'must be a domain such as "example.com" or "*.example.com"' })
    return z.NEVER
  })

/** The host of a URL for comparisons: without brackets and without the dot of the root. */
export function comparableHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '')
}

/** Compares whole labels: `evilexample.com` does not match `example.com`. */
export function matchesDomain(host: string, pattern: DomainPattern): boolean {
  if (host === pattern.host) return !pattern.isSubdomainOnly
  return !pattern.isExact && isIP(host) === 0 && host.endsWith(`.${pattern.host}`)
}

/** Undefined for a text with more than a host: a port, a path, credentials, another wildcard. */
function hostOf(text: string): string | undefined {
  const bracketed = isIP(text) === 6 ? `[${text}]` : text
  if (/[/\\@?#*\s]/.test(bracketed) || (/:/.test(bracketed) && !bracketed.startsWith('['))) return undefined
  const url = URL.canParse(`http://${bracketed}`) ? new URL(`http://${bracketed}`) : undefined
  const host = url && comparableHost(url)
  return host === '' || url?.port !== '' ? undefined : host
}
