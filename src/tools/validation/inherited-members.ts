import type { z } from 'zod'

/** A value for a schema, and what must be called when the schema has read it. */
interface Uninherited {
  readonly value: unknown
  readonly restore: () => void
}

/**
 * zod takes members of Object.prototype for members of the value: an object that lacks `constructor` has a function
 * there. For a schema that declares such a name the objects of the value are copies without a prototype, until
 * `restore` gives them back the usual one.
 */
export function withoutInherited(schema: z.core.$ZodType, value: unknown): Uninherited {
  if (inheritedNamesOf(schema).size === 0) return { value, restore: () => undefined }
  const copies = new Map<object, object>()
  return {
    value: copyOf(value, copies),
    restore: () => {
      for (const copy of copies.values()) if (!Array.isArray(copy)) Object.setPrototypeOf(copy, Object.prototype)
    },
  }
}

/** Copies arrays and plain objects; others stay. An object that occurs twice is copied once. */
function copyOf(value: unknown, copies: Map<object, object>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const known = copies.get(value)
  if (known !== undefined) return known
  if (Array.isArray(value)) {
    const copy: unknown[] = []
    copies.set(value, copy)
    for (const item of value) copy.push(copyOf(item, copies))
    return copy
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) return value
  const copy = Object.create(null) as Record<string, unknown>
  copies.set(value, copy)
  for (const [key, member] of Object.entries(value)) copy[key] = copyOf(member, copies)
  return copy
}

const inheritedNames = new WeakMap<z.core.$ZodType, ReadonlySet<string>>()

/** Which names of Object.prototype a schema declares for members, at any depth. */
export function inheritedNamesOf(schema: z.core.$ZodType): ReadonlySet<string> {
  const known = inheritedNames.get(schema)
  if (known !== undefined) return known
  const names = new Set<string>()
  const parts = new Set<Part>([schema])
  for (const part of parts) {
    // Getters may make new parts whenever they are read.
    if (parts.size > maxParts) throw new Error(`the schema has more than ${maxParts} parts`)
    for (const name of namesOf(part)) if (name in Object.prototype) names.add(name)
    for (const each of partsOf(part)) parts.add(each)
  }
  inheritedNames.set(schema, names)
  return names
}

const maxParts = 200_000

/** A schema or a check. */
interface Part {
  readonly _zod: {
    readonly def: object
    readonly innerType?: unknown
    readonly values?: ReadonlySet<unknown> | undefined
  }
}

function namesOf({ _zod: { def } }: Part): readonly string[] {
  if ('shape' in def) return Object.keys(def.shape ?? {})
  if (!('keyType' in def) || !isPart(def.keyType)) return []
  const { _zod: key } = def.keyType
  return [...(key.values ?? [])].map(String)
}

/** The parts directly within one: members of its definition, and members of these. */
function partsOf({ _zod: { def, innerType } }: Part): readonly Part[] {
  // To read a default may call a function of the user.
  const keys = Object.keys(def).filter((key) => key !== 'defaultValue')
  const members = [innerType, ...keys.map((key) => (def as Readonly<Record<string, unknown>>)[key])]
  return members.flatMap((member) => {
    if (typeof member !== 'object' || member === null) return []
    return isPart(member) ? member : Object.values(member).filter(isPart)
  })
}

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && '_zod' in value
}
