import { isJsonObject, type JsonObject, type JsonValue } from '../../../../common/json/json.js'
import type { References } from './references.js'

/**
 * Finds the subtypes of a schema with a discriminator: the targets of its mapping, which are plain texts, and the schemas
 * that extend it by `allOf`. A request that names only the parent accepts every subtype.
 */
export class Subtypes {
  readonly #references: References
  /** References to the schemas of the document that extend a schema, by the extended schema. */
  readonly #children = new Map<JsonObject, string[]>()

  constructor(references: References) {
    this.#references = references
    for (const name of Object.keys(this.#schemas)) {
      const { allOf } = this.#objectAt(referenceTo(name)) ?? {}
      for (const part of Array.isArray(allOf) ? allOf : []) {
        const parent = isJsonObject(part) && typeof part['$ref'] === 'string' ? this.#objectAt(part['$ref']) : undefined
        if (parent === undefined || !isJsonObject(parent['discriminator'])) continue
        this.#children.set(parent, [...(this.#children.get(parent) ?? []), referenceTo(name)])
      }
    }
  }

  /** References to the subtypes; empty for a schema that lists its alternatives, or has no discriminator. */
  of(schema: JsonObject): readonly string[] {
    const { discriminator, oneOf, anyOf } = schema
    if (!isJsonObject(discriminator) || oneOf !== undefined || anyOf !== undefined) return []
    const { mapping } = discriminator
    const mapped = Object.values(isJsonObject(mapping) ? mapping : {}).flatMap((target) => this.#mapped(target))
    const all = new Map<JsonObject, string>()
    for (const reference of [...mapped, ...(this.#children.get(schema) ?? [])]) {
      const target = this.#objectAt(reference)
      if (target !== undefined && target !== schema && !all.has(target)) all.set(target, reference)
    }
    return [...all.values()]
  }

  /** The target of a mapping is the name of a schema, or a reference. */
  #mapped(target: JsonValue): readonly string[] {
    if (typeof target !== 'string') return []
    return [Object.hasOwn(this.#schemas, target) ? referenceTo(target) : target]
  }

  get #schemas(): JsonObject {
    const { components } = this.#references.root
    const schemas = isJsonObject(components) ? components['schemas'] : undefined
    return isJsonObject(schemas) ? schemas : {}
  }

  #objectAt(reference: string): JsonObject | undefined {
    try {
      const target = this.#references.resolve(reference)
      return typeof target === 'boolean' ? undefined : target
    } catch {
      // A mapping to another document, or to nothing, adds no subtype.
      return undefined
    }
  }
}

function referenceTo(name: string): string {
  return `#/components/schemas/${name.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('%', '%25')}`
}
