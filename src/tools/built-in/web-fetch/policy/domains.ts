import { isIP } from 'node:net'
import { z } from 'zod'
import { hostOf } from '../../../../network/host-names.js'

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

/** Compares whole labels: `evilexample.com` does not match `example.com`. */
export function matchesDomain(host: string, pattern: DomainPattern): boolean {
  if (host === pattern.host) return !pattern.isSubdomainOnly
  return !pattern.isExact && isIP(host) === 0 && host.endsWith(`.${pattern.host}`)
}
