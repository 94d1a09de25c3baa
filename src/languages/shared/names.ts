import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'
import { pascalCase } from './texts.js'

/** The members that an object schema requires. */
export function requiredOf(schema: JsonObject): readonly JsonValue[] {
  return Array.isArray(schema['required']) ? schema['required'] : []
}

/** Names a member of a union by its constant property: `{ kind: 'circle' }` is a …Circle. */
export function variantName(option: JsonValue): string {
  const properties = isJsonObject(option) ? option['properties'] : undefined
  const constants = Object.values(isJsonObject(properties) ? properties : {}).map((one) =>
    isJsonObject(one) ? one['const'] : undefined,
  )
  const tag = constants.find((one) => typeof one === 'string')
  return tag === undefined ? '' : pascalCase(tag)
}

/** Names an item of a list by the list. */
export function singular(name: string): string {
  return /[^s]s$/.test(name) ? name.slice(0, -1) : `${name}Item`
}

/** The name that the author of a schema gave to its type. */
export function ownNameOf({ title, id }: JsonObject): string | undefined {
  return [title, id].map((one) => (typeof one === 'string' ? pascalCase(one) : '')).find((one) => one !== '')
}

/**
 * The name of the target of a `$ref`. zod generates names such as __schema0 for anonymous schemas: then the name from
 * the context is more useful.
 */
export function nameOfReference(reference: string, name: string): string {
  const key = reference.split('/').at(-1) ?? ''
  return key === '#' || key.startsWith('__schema') ? name : pascalCase(key) || name
}
