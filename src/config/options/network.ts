import { isIP } from 'node:net'
import { z } from 'zod'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import type { NetworkOption, NetworkRules, NetworkTarget } from '../../common/run/network.js'
import { didYouMean } from '../../common/text/unknown-keys.js'
import { isAllowableAddress, parseAuthority } from '../../sandbox/network/policy.js'
import { listOf } from '../../tools/validation/bounded-schemas.js'
import { credentialNamesIn } from '../../tools/sources/credential-references.js'

const defaultRequestsPerMinute = 600
const defaultBytesPerRequest = 256 * 1024 * 1024

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Headers that say where a message goes and where it ends. */
const reservedHeaders =
  /^(connection|content-length|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i

/** `HOST`, `*.HOST`, and both with `:PORT`. */
const hostPattern = z
  .string()
  .min(1)
  .max(260)
  .transform((text, context): NetworkTarget => {
    const subdomains = text.startsWith('*.')
    const hasPort = /:\d+$/.test(text) && (isIP(text) !== 6 || text.startsWith('['))
    const named = isIP(text) === 6 ? `[${text}]` : subdomains ? text.slice(2) : text
    const found = parseAuthority(named, 80)
    const isAddress = found !== undefined && isIP(found.host) !== 0
    if (found === undefined || (isAddress && subdomains)) {
      context.addIssue('must be a host such as "api.example.com", "*.example.com:8443" or "10.1.2.3"')
      return z.NEVER
    }
    const { host, port } = found
    if (isAddress && !isAllowableAddress(host)) {
      context.addIssue('is an address that code never reaches: link-local, of a metadata service, or of a special use')
      return z.NEVER
    }
    return { host, ...(subdomains && { subdomains }), ...(hasPort && { port }) }
  })

const hostWithConditions = z
  .strictObject({
    host: hostPattern,
    methods: z
      .array(z.string().regex(/^[A-Z]{1,20}$/, 'must be a method in capital letters'))
      .min(1)
      .max(20)
      .refine((methods) => !methods.includes('CONNECT') && !methods.includes('TRACE'), 'must not be CONNECT or TRACE')
      .optional(),
    headers: z
      .record(
        z
          .string()
          .max(100)
          .regex(headerName)
          .refine((name) => !reservedHeaders.test(name), 'is set by the proxy'),
        z
          .string()
          .max(4_000)
          .regex(/^[ -~]*$/, 'must be printable ASCII'),
      )
      .optional(),
    https: z.boolean().default(false),
  })
  .transform(({ host, methods, headers, https }): NetworkTarget => ({
    ...host,
    ...defined({ methods, headers }),
    ...(https && { https }),
  }))

/** Accepts what the schema for a value accepts, and reports its problems: those of a union would say nothing. */
const chosen = <Output>(schemaFor: (value: unknown) => z.ZodType<Output>) =>
  z.unknown().transform((value, context): Output => {
    const { success, data, error } = schemaFor(value).safeParse(value)
    if (success) return data
    for (const { path, message } of error.issues) context.addIssue({ code: 'custom', path: [...path], message })
    return z.NEVER
  })

const entry = chosen((value) => (typeof value === 'string' ? hostPattern : hostWithConditions))

/** Accepts the option `network`. */
export const networkOption = z.strictObject({
  allow: listOf(entry, 1_000),
  requestsPerMinute: z.int().min(1).max(10_000).default(defaultRequestsPerMinute),
  bytesPerRequest: z.int().min(1).default(defaultBytesPerRequest),
}) satisfies z.ZodType<NetworkRules>

/** Accepts the option `network` of a run. */
export const networkOrNone = chosen<NetworkRules | false>((value) =>
  value === false ? z.literal(false) : networkOption,
)

/**
 * Reads the option of an agent.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function networkRules(option: NetworkOption, where: string): NetworkRules {
  const { success, data, error } = networkOption.safeParse(option)
  if (success) return data
  throw new PtcError('CONFIG_INVALID', `the network of ${where} is not valid:\n${z.prettifyError(error)}`)
}

/** Names of the credentials in the headers of a target. */
export function credentialNamesOf({ headers = {} }: NetworkTarget): readonly string[] {
  return credentialNamesIn(Object.values(headers))
}

/** @throws PtcError CONFIG_INVALID when a header names a credential that has no source */
export function checkNetworkCredentials({ allow }: NetworkRules, names: readonly string[], where: string): void {
  const needed = allow.flatMap(credentialNamesOf)
  const missing = needed.find((name) => !names.includes(name))
  if (missing === undefined) return
  throw new PtcError(
    'CONFIG_INVALID',
    `the network of ${where} needs credential ${missing}, and the configuration has no source for it${didYouMean(missing, names)}`,
    { hint: `Add it to credentials: { ${missing}: { environment: 'VARIABLE' } }.` },
  )
}

const maxDescribedHosts = 30

/** The hosts, for the model. */
export function describeNetwork({ allow }: NetworkRules): string {
  const texts = [...new Set(allow.map(describeTarget))]
  const rest = texts.length - maxDescribedHosts
  return [...texts.slice(0, maxDescribedHosts), ...(rest > 0 ? [`${rest} others`] : [])].join(', ')
}

export function describeTarget({ host, subdomains, port, methods, headers, https }: NetworkTarget): string {
  const name = `${subdomains ? '*.' : ''}${isIP(host) === 6 ? `[${host}]` : host}${port === undefined ? '' : `:${port}`}`
  const conditions = [
    ...((https ?? methods ?? headers) ? ['by http:// URLs only'] : []),
    ...(methods ? [methods.join(' and ')] : []),
  ]
  return conditions.length === 0 ? name : `${name} (${conditions.join(', ')})`
}
