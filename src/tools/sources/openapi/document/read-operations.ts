import { messageOf } from '../../../../common/errors.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../common/json/json.js'
import type { ParsedOpenApiSource } from '../options.js'
import { bodyArgument, type Method, methods, type Operation, type ParameterLocation } from '../operation.js'
import { Subtypes } from './discriminators.js'
import type { LoadedDocument } from './load-document.js'
import { readParameters } from './parameters.js'
import type { References } from './references.js'
import { readBody, withBase64 } from './request-body.js'
import { RequestSchemas } from './request-schemas.js'
import { responseSchemaOf } from './response-schema.js'
import { SecuritySchemes } from './security.js'
import { baseUrlOf, withoutSlash } from './servers.js'

/** An operation in the list of a document, of which only the name was read. */
export interface ListedOperation {
  readonly key: string
  readonly id: string
  readonly path: string
  readonly method: Method
  readonly tags: readonly string[]
  readonly pathItem: JsonObject
  readonly declared: JsonObject
}

/** @throws Error for anything but OpenAPI 3 */
export function versionOf({ openapi, swagger }: JsonObject): string {
  if (typeof openapi === 'string' && /^3\.[012](?:\.|$)/.test(openapi)) return openapi
  if (swagger !== undefined)
    throw new Error(`it is Swagger ${JSON.stringify(swagger).slice(0, 20)}; convert it to OpenAPI 3`)
  throw new Error(`it is not OpenAPI 3: openapi is ${JSON.stringify(openapi ?? null).slice(0, 50)}`)
}

/** The operations of a document, in its order; without reading their schemas. */
export function listOperations(references: References): readonly ListedOperation[] {
  const { paths } = references.root
  return Object.entries(isJsonObject(paths) ? paths : {}).flatMap(([path, item]) => {
    const pathItem = path.startsWith('/') ? pathItemOf(item, references) : undefined
    if (pathItem === undefined) return []
    return methods.flatMap((method): ListedOperation[] => {
      const declared = pathItem[method]
      if (!isJsonObject(declared)) return []
      const { operationId, tags } = declared
      const id = typeof operationId === 'string' && operationId !== '' ? operationId : nameOf(method, path)
      const key = `${method.toUpperCase()} ${path}`
      const names = Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : []
      return [{ key, id, path, method, tags: names, pathItem, declared }]
    })
  })
}

/** A path that leads to nothing has no operations. */
function pathItemOf(item: JsonValue, references: References): JsonObject | undefined {
  try {
    return references.object(item)
  } catch {
    return undefined
  }
}

/** `GET /pets/{id}/photos` without an operationId becomes `get_pets_id_photos`. */
function nameOf(method: Method, path: string): string {
  return [method, ...(path.match(/[A-Za-z0-9_]+/g) ?? [])].join('_')
}

/** Reads the operations of one document. */
export class OperationReader {
  readonly references: References
  readonly schemes: SecuritySchemes
  /** Operations for which the configuration has not all credentials. */
  readonly withoutCredentials: string[] = []
  readonly #source: ParsedOpenApiSource
  readonly #documentUrl: URL
  readonly #subtypes: Subtypes
  readonly #isVersion30: boolean
  readonly #configured: ReadonlySet<string>

  constructor({ root, url }: LoadedDocument, references: References, source: ParsedOpenApiSource) {
    this.references = references
    this.schemes = new SecuritySchemes(references)
    this.#source = source
    this.#documentUrl = url
    this.#subtypes = new Subtypes(references)
    this.#isVersion30 = versionOf(root).startsWith('3.0')
    this.#configured = new Set(Object.keys(source.credentials))
  }

  /** @throws Error for an operation that can't be called */
  read({ key, id, path: declaredPath, method, pathItem, declared }: ListedOperation): Operation {
    // Authors tell operations of one path apart by a fragment, which is never sent, or by a query.
    const [path = '', query = ''] = (declaredPath.split('#')[0] ?? '').split(/\?(.*)/)
    if (/[{}]/.test(query)) throw new Error('its path has a parameter in a query')
    const { root } = this.references
    const { baseUrl, serverVariables } = this.#source
    const schemes = this.schemes.choose(declared['security'] ?? root['security'], this.#configured)
    if (schemes === undefined) this.withoutCredentials.push(id)
    const read = readParameters([pathItem['parameters'], declared['parameters']], path, {
      references: this.references,
      isGiven: (location, name) => this.#isGiven(location, name, id, key),
    })
    const body = readBody(declared['requestBody'], this.references)
    const schemas = new RequestSchemas(this.references, this.#subtypes, this.#isVersion30)
    const properties: [string, JsonValue][] = read.map(({ parameter, schema, description }) => [
      parameter.argument,
      described(schemas.convert(schema), description),
    ])
    if (body) {
      const { schema, description } = body
      const converted = schemas.convert(schema)
      const isForm = body.body.kind === 'form' || body.body.kind === 'multipart'
      const shown = isForm ? this.#formSchema(converted, schemas, body.body) : converted
      properties.push([bodyArgument, described(shown, description)])
    }
    const required = [
      ...read.filter(({ parameter }) => parameter.isRequired).map(({ parameter }) => parameter.argument),
      ...(body?.isRequired ? [bodyArgument] : []),
    ]
    const hasDefinitions = Object.keys(schemas.definitions).length > 0
    return {
      key,
      id,
      method,
      path,
      query,
      description: describe(declared, key),
      parameters: read.map(({ parameter }) => parameter),
      body: body?.body,
      baseUrl:
        baseUrl === undefined
          ? baseUrlOf([declared['servers'], pathItem['servers'], root['servers']], {
              documentUrl: this.#documentUrl,
              variables: serverVariables,
            })
          : withoutSlash(baseUrl),
      schemes: schemes ?? [],
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(properties),
        ...(required.length > 0 && { required }),
        additionalProperties: false,
        ...(hasDefinitions && { $defs: schemas.definitions }),
      },
      outputSchema: responseSchemaOf(declared['responses'], this.references),
    }
  }

  /** The value of a parameter that is a credential, or that the configuration has, is never an argument. */
  #isGiven(location: ParameterLocation, name: string, id: string, key: string): boolean {
    if (this.schemes.hasParameter(location, name)) return true
    if (location !== 'header') return false
    const { headers, operations, idempotencyKeyHeader } = this.#source
    const own = [id, key].map((each) => (Object.hasOwn(operations, each) ? operations[each] : undefined))
    const given = [...Object.keys(headers), idempotencyKeyHeader, ...own.map((each) => each?.idempotencyKeyHeader)]
    return given.some((each) => each?.toLowerCase() === name.toLowerCase())
  }

  #formSchema(
    schema: JsonObject | boolean,
    schemas: RequestSchemas,
    body: Extract<Operation['body'], { readonly kind: 'form' | 'multipart' }>,
  ): JsonObject | boolean {
    const hasBinary = [...body.members.values()].some(({ isBinary }) => isBinary)
    const reference = typeof schema === 'object' && hasBinary ? schema['$ref'] : undefined
    if (typeof reference !== 'string') return withBase64(schema, body.members)
    // The form of this request alone says that members are Base64.
    const target = schemas.definitions[reference.replace('#/$defs/', '')]
    return withBase64(isJsonObject(target) ? target : schema, body.members)
  }
}

function described(schema: JsonObject | boolean, description: string | undefined): JsonValue {
  if (description === undefined || description.trim() === '') return schema
  return { ...(typeof schema === 'object' ? schema : schema ? {} : { not: {} }), description: description.trim() }
}

function describe({ summary, description, deprecated }: JsonObject, key: string): string {
  const texts = [summary, description].flatMap((text) => (typeof text === 'string' ? [text.trim()] : []))
  const [first = '', second = ''] = texts
  const sentence = first === '' || /[.!?]$/.test(first) ? first : `${first}.`
  const whole = [sentence, second.startsWith(first) ? second.slice(first.length).trim() : second].filter(Boolean)
  return [...(whole.length > 0 ? whole : [key]), ...(deprecated === true ? ['Deprecated.'] : [])].join('\n')
}

/** The reason why an operation can't be read, in one line. */
export function problemOf({ id }: ListedOperation, thrown: unknown): string {
  return `${id}: ${messageOf(thrown)}`
}
