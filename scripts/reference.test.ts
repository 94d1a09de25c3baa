import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defaultLimits } from '../src/common/run/limits.js'
import { configSchema } from '../src/config/parse-config.js'
import { currentPage, optionsOf, pagePaths } from './reference.mjs'

const root = join(import.meta.dirname, '..')
const options = optionsOf('docs/reference/configuration.md')
const documented = options.map(({ path }) => path)

it.each(pagePaths)('%s has the options of the types: `node scripts/reference.mjs` writes them', (page) => {
  expect(readFileSync(join(root, page), 'utf8')).toBe(currentPage(page))
})

it('the reference of the configuration has each option of the schema, and no other', () => {
  const known = optionPaths(configSchema, '')
  const groups = documented.filter((path) => known.some((other) => other.startsWith(`${path}.`)))
  expect(documented.filter((path) => !groups.includes(path)).toSorted()).toEqual(known.toSorted())
})

it('the reference of the configuration has the defaults of the schema', () => {
  const defaults: unknown = configSchema.parse({ tools: [] })
  for (const { path, fallback } of options) {
    const value = path
      .split('.')
      .reduce<unknown>((parent, key) => (parent as Record<string, unknown> | undefined)?.[key], defaults)
    const number = parseQuantity(fallback)
    if (number !== undefined && value !== undefined) expect([path, value]).toEqual([path, number])
  }
})

it('the reference of limits has each limit with its default', () => {
  const page = readFileSync(join(root, 'docs/reference/limits.md'), 'utf8')
  for (const [name, value] of Object.entries(defaultLimits)) {
    const rows = page.split('\n').filter((line) => line.startsWith(`| \`${name}\` | `))
    expect([name, rows.length]).toEqual([name, 1])
    const [, , cell = ''] = rows[0]?.split('|') ?? []
    expect([name, parseQuantity(cell.trim())]).toEqual([name, value])
  }
})

/** Paths of the options, down to those that the reference describes as a whole. */
function optionPaths(schema: z.ZodType, path: string): string[] {
  const isDescribed = path !== '' && !documented.some((other) => other.startsWith(`${path}.`))
  const object = isDescribed ? undefined : objectIn(schema)
  if (!object) return [path]
  return Object.entries(object.shape).flatMap(([key, member]) =>
    optionPaths(member as z.ZodType, path === '' ? key : `${path}.${key}`),
  )
}

function objectIn(schema: unknown): z.ZodObject | undefined {
  if (schema instanceof z.ZodObject) return schema
  if (schema instanceof z.ZodUnion) return schema.options.map(objectIn).find((option) => option !== undefined)
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return objectIn(schema.unwrap())
  return undefined
}

const units: Readonly<Record<string, number>> = {
  seconds: 1_000,
  minutes: 60_000,
  days: 86_400_000,
  KiB: 1_024,
  MiB: 1_024 ** 2,
  GiB: 1_024 ** 3,
}

/** The number at the begin of a text, with its unit. */
function parseQuantity(text: string): number | undefined {
  const [, number, unit = ''] = /^([\d,.]+)(?: (\w+))?/.exec(text) ?? []
  return number === undefined ? undefined : Number(number.replaceAll(',', '')) * (units[unit] ?? 1)
}
