import { isJsonObject, type JsonObject, type JsonValue } from '../../../../common/json/json.js'
import type { References } from './references.js'

/** Where the credential of a security scheme is sent. */
export type UsedScheme =
  | {
      readonly name: string
      readonly kind: 'bearer'
      /** Where a client gets tokens by its own credentials. Undefined: the document does not say. */
      readonly tokenUrl?: string
    }
  | { readonly name: string; readonly kind: 'basic' }
  | {
      readonly name: string
      readonly kind: 'key'
      readonly location: 'header' | 'query' | 'cookie'
      readonly parameter: string
    }

/** The security schemes of a document. */
export class SecuritySchemes {
  /** Schemes that a request can satisfy, by name. */
  readonly known: ReadonlyMap<string, UsedScheme>
  /** Names of the others, with the reason. */
  readonly unsupported: ReadonlyMap<string, string>

  constructor(references: References) {
    const { components } = references.root
    const declared = isJsonObject(components) ? components['securitySchemes'] : undefined
    const known = new Map<string, UsedScheme>()
    const unsupported = new Map<string, string>()
    for (const [name, value] of Object.entries(isJsonObject(declared) ? declared : {})) {
      const scheme = readScheme(name, references.object(value) ?? {})
      if (typeof scheme === 'string') unsupported.set(name, scheme)
      else known.set(name, scheme)
    }
    this.known = known
    this.unsupported = unsupported
  }

  /**
   * The schemes of a request, of which all have a credential: those of the first alternative that has all.
   *
   * @param security requirements of the operation, else of the document
   * @returns undefined when each alternative needs a credential that is not configured
   */
  choose(security: JsonValue | undefined, configured: ReadonlySet<string>): readonly UsedScheme[] | undefined {
    const alternatives = (Array.isArray(security) ? security : []).filter(isJsonObject).map((each) => Object.keys(each))
    if (alternatives.length === 0) return []
    const satisfied = alternatives.filter((names) => names.every((name) => configured.has(name)))
    // An alternative without a scheme means that the credential is optional.
    const chosen = satisfied.find((names) => names.length > 0) ?? satisfied[0]
    return chosen?.flatMap((name) => this.known.get(name) ?? [])
  }

  /** Whether a parameter is the place of a credential, of any scheme of the document: it is never an argument. */
  hasParameter(location: string, parameter: string): boolean {
    const isSame = (other: string) =>
      location === 'header' ? other.toLowerCase() === parameter.toLowerCase() : other === parameter
    return [...this.known.values()].some(
      (scheme) => scheme.kind === 'key' && scheme.location === location && isSame(scheme.parameter),
    )
  }
}

function readScheme(
  name: string,
  { type, scheme, flows, in: location, name: parameter }: JsonObject,
): UsedScheme | string {
  // A token of OAuth is a bearer token. The configuration gets it, because a run has no browser.
  if (type === 'oauth2' || type === 'openIdConnect') {
    const flow = isJsonObject(flows) ? flows['clientCredentials'] : undefined
    const tokenUrl = isJsonObject(flow) ? flow['tokenUrl'] : undefined
    return { name, kind: 'bearer', ...(typeof tokenUrl === 'string' && { tokenUrl }) }
  }
  if (type === 'http') {
    const kind = typeof scheme === 'string' ? scheme.toLowerCase() : ''
    if (kind === 'bearer' || kind === 'basic') return { name, kind }
    return `HTTP scheme ${JSON.stringify(kind.slice(0, 50))}`
  }
  if (type !== 'apiKey') return `type ${JSON.stringify(type ?? null).slice(0, 50)}`
  if (typeof parameter !== 'string' || parameter === '') return 'an API key without a name'
  if (location === 'header' || location === 'query' || location === 'cookie')
    return { name, kind: 'key', location, parameter }
  return 'an API key without a place'
}
