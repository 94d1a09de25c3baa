import { isJsonObject, type JsonObject, type JsonValue } from '../../../../common/json/json.js'

/** References that lead to references. */
const maxHops = 100

/** The parts of a document by reference. Its other files are parts of it (`bundle.ts`). */
export class References {
  readonly root: JsonObject

  constructor(root: JsonObject) {
    this.root = root
  }

  /** @throws Error for a reference to another document, to nothing, or to itself */
  resolve(reference: string): JsonObject | boolean {
    let at = reference
    for (let hop = 0; hop < maxHops; hop++) {
      const target = this.#lookUp(at)
      if (typeof target === 'boolean') return target
      if (!isJsonObject(target)) throw new Error(`${show(reference)} does not name an object`)
      const { $ref } = target
      // Other members next to a reference are not lost: then it is a schema of its own.
      if (typeof $ref !== 'string' || Object.keys(target).length > 1) return target
      at = $ref
    }
    throw new Error(`${show(reference)} refers to itself`)
  }

  /**
   * An object of the document, behind a reference or in its place.
   *
   * @returns undefined for anything that is not an object
   * @throws Error as {@link resolve}
   */
  object(value: JsonValue | undefined): JsonObject | undefined {
    let part = value
    for (let hop = 0; hop < maxHops; hop++) {
      if (!isJsonObject(part)) return undefined
      const { $ref } = part
      if (typeof $ref !== 'string') return part
      part = this.resolve($ref)
    }
    throw new Error('a reference refers to itself')
  }

  #lookUp(reference: string): JsonValue {
    if (!reference.startsWith('#')) {
      throw new Error(`${show(reference)} is in another document that is not read`)
    }
    if (reference !== '#' && !reference.startsWith('#/')) throw new Error(`${show(reference)} is not a JSON pointer`)
    let target: JsonValue = this.root
    for (const segment of reference.split('/').slice(1)) {
      const key = decode(segment).replaceAll('~1', '/').replaceAll('~0', '~')
      const isContainer = isJsonObject(target) || Array.isArray(target)
      if (!isContainer || !Object.hasOwn(target as object, key)) throw new Error(`${show(reference)} is missing`)
      target = (target as JsonObject)[key] as JsonValue
    }
    return target
  }
}

function show(reference: string): string {
  return `reference ${JSON.stringify(reference.slice(0, 200))}`
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
