import { isIP } from 'node:net'

/** The host of a URL for comparisons: without brackets and without the dot of the root. */
export function comparableHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '')
}

/**
 * The host that a text names, in the form that `new URL` gives to it: lower case, Punycode, an address in its usual
 * spelling. Undefined for a text with more than a host: a port, a path, credentials, a wildcard.
 */
export function hostOf(text: string): string | undefined {
  const bracketed = isIP(text) === 6 ? `[${text}]` : text
  if (/[/\\@?#*\s]/.test(bracketed) || (/:/.test(bracketed) && !bracketed.startsWith('['))) return undefined
  const url = URL.canParse(`http://${bracketed}`) ? new URL(`http://${bracketed}`) : undefined
  const host = url && comparableHost(url)
  return host === '' || url?.port !== '' ? undefined : host
}
