import type { ToolContext } from '../../../tool-context.js'
import { Redactor } from '../../../credentials/redactor.js'
import { credentialNamesIn, fillCredentials } from '../../credential-references.js'
import type { Operation } from '../operation.js'
import type { ParsedOpenApiSource } from '../options.js'
import { encodeStrict, type Pair } from './encode-value.js'

/** What the configuration adds to each request. */
export interface GivenParts {
  readonly headers: Readonly<Record<string, string>>
  readonly query: readonly Pair[]
  readonly cookies: readonly Pair[]
  /** Replaces the texts that are sent: not only the values of credentials, but also what is made of them. */
  readonly redactor: Redactor
}

/** Reads the credentials of an operation for one attempt. */
export function givenParts(
  { schemes }: Pick<Operation, 'schemes'>,
  { credentials, headers }: Pick<ParsedOpenApiSource, 'credentials' | 'headers'>,
  { credential }: Pick<ToolContext, 'credential'>,
): GivenParts {
  const filled: Record<string, string> = {}
  const query: Pair[] = []
  const cookies: Pair[] = []
  const secrets = new Map<string, string>()
  for (const scheme of schemes) {
    const template = credentials[scheme.name] ?? ''
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
  return { headers: filled, query, cookies, redactor: new Redactor(new Map(long)) }
}

/** Shorter texts could be ordinary ones. */
const minCharacters = 8
