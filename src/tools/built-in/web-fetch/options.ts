import { isIP } from 'node:net'
import { z } from 'zod'
import type { Duration } from '../../../common/text/duration.js'
import { durationOption } from '../../../platform/option-schemas.js'
import type { ApprovalOption } from '../approval-option.js'
import { domainPattern } from './policy/domains.js'

/** Arguments of `web_fetch`. */
export interface WebFetchInput {
  readonly url: string
  readonly start: number
  readonly maxCharacters: number
}

/** Options of `webFetch`. */
export interface WebFetchOptions {
  /** Name of the tool. Default `web_fetch`. */
  readonly name?: string
  /**
   * Domains that may be fetched: `example.com` is this domain and its subdomains, `*.example.com` its subdomains only.
   * Default: all domains.
   */
  readonly allow?: readonly string[]
  /** Domains that are not fetched, in the form of `allow`. They come before `allow`. Default: none. */
  readonly deny?: readonly string[]
  /** Ports that may be fetched. Default 80 and 443. */
  readonly ports?: readonly number[]
  /**
   * Single addresses outside of the public internet that may be fetched, such as `10.1.2.3`. Default: none. Loopback,
   * private networks and the metadata services of clouds can't be fetched, also when `allow` has their name.
   */
  readonly privateAddresses?: readonly string[]
  /** Maximum bytes of a page, as it arrives and decompressed. Default 5 MiB. */
  readonly maxBytes?: number
  /** Time for one page, from the first name to the text. Default 30 seconds. */
  readonly timeout?: Duration
  /** Fetches only what the robots.txt of the server allows. Default false. */
  readonly robots?: boolean
  /** Whether a person approves a fetch, as for `defineTool`. Default: no fetch. */
  readonly approval?: ApprovalOption<WebFetchInput>
}

const maxCharacters = 1_000_000
const defaultCharacters = 20_000

export const webFetchInput = z.strictObject({
  url: z.string().min(1).max(8_000).describe('An absolute URL: http or https.'),
  start: z.int().min(0).default(0).describe('Characters to skip, to read on in a long page.'),
  maxCharacters: z
    .int()
    .min(1)
    .max(maxCharacters)
    .default(defaultCharacters)
    .describe('Characters of `text` to return.'),
})

export const webFetchOutput = z.strictObject({
  url: z.string().describe('The URL after redirects.'),
  status: z.int().describe('The HTTP status. A page with 404 is a result, too.'),
  contentType: z.string(),
  title: z.string().optional(),
  text: z.string(),
  totalCharacters: z.int().describe('Characters of the whole text; there is more when start + len(text) is less.'),
})

/** Characters of a page that are kept. */
export const maxPageCharacters = maxCharacters

const address = z.string().refine((text) => isIP(text) !== 0, 'must be an IP address')

export const webFetchOptions = z.strictObject({
  name: z.string().default('web_fetch'),
  allow: z.array(domainPattern).exactOptional(),
  deny: z.array(domainPattern).default([]),
  ports: z.array(z.int().min(1).max(65_535)).min(1).default([80, 443]),
  privateAddresses: z.array(address).default([]),
  maxBytes: z
    .int()
    .min(1_024)
    .max(50 * 1024 * 1024)
    .default(5 * 1024 * 1024),
  timeout: durationOption('30s'),
  robots: z.boolean().default(false),
  /** `defineTool` checks it. */
  approval: z.custom<NonNullable<WebFetchOptions['approval']>>().optional(),
})

export type ParsedWebFetchOptions = z.output<typeof webFetchOptions>
