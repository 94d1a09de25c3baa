import { isJsonObject, type JsonObject, type JsonValue } from '../../../../common/json/json.js'
import { digestJson } from '../../../../common/calls/call-identity.js'
import { bodyArgument, type Parameter, type ParameterLocation, type Serialization, type Style } from '../operation.js'
import { isJsonType } from './media-types.js'
import type { References } from './references.js'

/** A parameter with its schema, as the document has it. */
export interface ReadParameter {
  readonly parameter: Parameter
  readonly schema: JsonValue
  readonly description: string | undefined
}

const styles: Readonly<Record<ParameterLocation, readonly [Style, ...Style[]]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
}

/** Headers that OpenAPI ignores, and headers of the connection. */
const ownHeaders: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'host',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

interface ParameterOptions {
  readonly references: References
  /** Parameters of which the request has the value already: those of credentials, and headers of the configuration. */
  readonly isGiven: (location: ParameterLocation, name: string) => boolean
}

/**
 * The parameters of an operation: its own come before those of its path.
 *
 * @throws Error for a parameter that can't be sent
 */
export function readParameters(
  lists: readonly (JsonValue | undefined)[],
  path: string,
  { references, isGiven }: ParameterOptions,
): readonly ReadParameter[] {
  const all = new Map<string, Omit<ReadParameter, 'parameter'> & { readonly parameter: Omit<Parameter, 'argument'> }>()
  for (const value of lists.flatMap((list) => (Array.isArray(list) ? (list as readonly JsonValue[]) : []))) {
    const declared = references.object(value)
    const { in: location, name } = declared ?? {}
    if (declared === undefined || !isLocation(location) || typeof name !== 'string' || name === '')
      throw new Error('a parameter has no name, or an unknown place')
    const isHeader = location === 'header'
    if ((isHeader && ownHeaders.has(name.toLowerCase())) || isGiven(location, name)) continue
    if (isHeader && !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      throw new Error(`header ${show(name)} has no valid name`)
    all.set(`${location} ${name}`, readParameter(declared, location, name))
  }
  const read = [...all.values()]
  const inPath = read.flatMap(({ parameter: { location, name } }) => (location === 'path' ? [name] : []))
  const missing = namesIn(path).find((name) => !inPath.includes(name))
  if (missing !== undefined) throw new Error(`its path has ${show(missing)}, which is not a parameter`)
  const sent = read.filter(({ parameter: { location, name } }) => location !== 'path' || namesIn(path).includes(name))
  const names = argumentNames(sent.map(({ parameter }) => parameter))
  return sent.map((each, index) => ({ ...each, parameter: { ...each.parameter, argument: names[index] ?? '' } }))
}

/** The names of the parameters in a template. */
export function namesIn(path: string): readonly string[] {
  return [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name)
}

function readParameter(declared: JsonObject, location: ParameterLocation, name: string) {
  const {
    description,
    required,
    content,
    schema = {},
    style,
    explode,
    allowReserved,
    'x-multi-segment': multi,
  } = declared
  const [mediaType, media] = isJsonObject(content) ? (Object.entries(content)[0] ?? []) : []
  if (mediaType !== undefined && !isJsonType(mediaType))
    throw new Error(`parameter ${show(name)} has media type ${show(mediaType)}`)
  const known: readonly string[] = styles[location]
  if (style !== undefined && !(typeof style === 'string' && known.includes(style)))
    throw new Error(
      `parameter ${show(name)} has style ${show(JSON.stringify(style))}, which is not one of ${known.join(', ')}`,
    )
  const used = (style ?? styles[location][0]) as Style
  const serialization: Serialization = {
    style: used,
    explode: typeof explode === 'boolean' ? explode : used === 'form' || used === 'deepObject',
    allowReserved: allowReserved === true,
  }
  const isContent = mediaType !== undefined
  return {
    parameter: {
      name,
      location,
      isRequired: required === true || location === 'path',
      serialization: isContent ? ('json' as const) : serialization,
      isMultiSegment: location === 'path' && (multi === true || allowReserved === true),
    },
    schema: (isContent ? (isJsonObject(media) ? media['schema'] : undefined) : schema) ?? {},
    description: typeof description === 'string' ? description : undefined,
  }
}

/**
 * Names of arguments: the name of the parameter, with `_` for a character that an identifier may not have. Where two
 * would be one, or it would be that of the body, the place comes before the name.
 */
function argumentNames(parameters: readonly Omit<Parameter, 'argument'>[]): readonly string[] {
  const plain = parameters.map(({ name }) => toIdentifier(name))
  const taken = (names: readonly string[], index: number): boolean =>
    names[index] === bodyArgument || names.indexOf(names[index] ?? '') !== names.lastIndexOf(names[index] ?? '')
  const placed = parameters.map(({ location }, index) =>
    taken(plain, index) ? `${location}_${plain[index]}` : (plain[index] ?? ''),
  )
  return parameters.map(({ location, name }, index) => {
    const wanted = placed[index] ?? ''
    return taken(placed, index) ? `${wanted}_${digestJson([location, name]).slice(0, 8)}` : wanted
  })
}

function toIdentifier(name: string): string {
  const identifier = name.replaceAll(/[^A-Za-z0-9_]+/g, '_').replaceAll(/^_+|_+$/g, '')
  return /^[A-Za-z]/.test(identifier) ? identifier : `parameter_${identifier}`.replace(/_$/, '')
}

function isLocation(value: unknown): value is ParameterLocation {
  return value === 'path' || value === 'query' || value === 'header' || value === 'cookie'
}

function show(name: string): string {
  return JSON.stringify(name.slice(0, 100))
}
