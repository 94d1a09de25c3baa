/** A JSON value that may be expensive to read: `open`, repeated `unit`, `middle`, as many `closing`, `close`. */
export interface HostileFamily {
  readonly name: string
  readonly open?: string
  /** `%07d` is replaced by the number of the unit. */
  readonly unit: string
  readonly middle?: string
  readonly closing?: string
  readonly close?: string
  /** Maximum number of units. */
  readonly maxUnits?: number
}

const list = { open: '[', middle: '0', close: ']' }
const object = { open: '{', middle: '"z":0', close: '}' }
const string = { open: '"', close: '"' }

export const hostileFamilies: readonly HostileFamily[] = [
  { name: 'wide: empty lists', ...list, unit: '[],' },
  { name: 'wide: empty objects', ...list, unit: '{},' },
  { name: 'wide: objects of another shape each', ...list, unit: '{"k%07d":0},' },
  { name: 'deep: lists', unit: '[', closing: ']', maxUnits: 4_900 },
  { name: 'deep: objects', unit: '{"a":', middle: '0', closing: '}', maxUnits: 4_900 },
  { name: 'numeric: digits', ...list, unit: '1,' },
  { name: 'numeric: 1e999', ...list, unit: '1e999,' },
  { name: 'numeric: long', ...list, unit: `${'9'.repeat(400)},` },
  { name: 'keys: many', ...object, unit: '"k%07d":0,' },
  { name: 'keys: like numbers', ...object, unit: '"1%07d":0,' },
  { name: 'keys: the same', ...object, unit: '"a":0,' },
  { name: 'keys: __proto__', ...object, unit: '"__proto__":0,' },
  { name: 'keys: __proto__ in itself', unit: '{"__proto__":', middle: '0', closing: '}', maxUnits: 4_900 },
  { name: 'strings: short', ...list, unit: '"%07d",' },
  { name: 'strings: escapes', ...string, unit: String.raw`\u0041` },
  { name: 'strings: escaped quotes', ...string, unit: String.raw`\"` },
  { name: 'unicode: lone surrogates', ...string, unit: String.raw`\ud800` },
  { name: 'unicode: combining', ...string, unit: 'e\u0301' },
]

/** Families whose value is one string. */
export const stringFamilies = hostileFamilies.filter(({ open }) => open === '"')

/**
 * Runner messages that may be large: `%d` is the step, `%s` the value. Only `suspended` accepts values other than
 * strings.
 */
export const largeMessages = {
  suspended:
    '{"type":"suspended","step":%d,"calls":[{"call":1,"tool":"get","arguments":{"a":%s}}],"wake_in":null,"output":""}',
  completed: '{"type":"completed","step":%d,"output":%s}',
  failed: '{"type":"failed","step":%d,"kind":"code_error","error":%s,"output":""}',
  output: '{"type":"output","step":%d,"text":%s}',
  snapshot: '{"type":"snapshot","step":%d,"fence":[1,1,1],"piece":0,"text":%s,"last":true}',
} as const

/** Slightly less than the default limits of a runner's frame. */
const frameBudget = { bytes: 8_300_000, structure: 320_000 }

/** Number of units of the largest value of this family that a host reads. */
export function maxUnitsOf({ unit, closing = '', maxUnits: atMost = Infinity }: HostileFamily, share = 1): number {
  const inString = unit.startsWith('\\') || unit.startsWith('e')
  const structure = inString ? 0 : `${unit}${closing}`.replaceAll(/"[^"]*"/g, '""').length
  const bytes = Buffer.byteLength(unit + closing) + (unit.includes('%') ? 3 : 0)
  return Math.floor(Math.min(atMost, (share * frameBudget.bytes) / bytes, (share * frameBudget.structure) / structure))
}

/** The value as JSON text. */
export function hostileJson(
  { open = '', unit, middle = '', closing = '', close = '' }: HostileFamily,
  units: number,
): string {
  const numbered = (_unit: unknown, number: number): string => unit.replace('%07d', String(number).padStart(7, '0'))
  const all = unit.includes('%') ? Array.from({ length: units }, numbered).join('') : unit.repeat(units)
  return `${open}${all}${middle}${closing.repeat(units)}${close}`
}

/** The same as a Python expression, which generates the bytes quickly. */
export function hostilePython(
  { open = '', unit, middle = '', closing = '', close = '' }: HostileFamily,
  units: number,
): string {
  const bytes = (text: string): string => `${JSON.stringify(text)}.encode()`
  const all = unit.includes('%')
    ? `"".join(${JSON.stringify(unit)} % n for n in range(${units})).encode()`
    : `${bytes(unit)} * ${units}`
  return `${bytes(open)} + ${all} + ${bytes(middle)} + ${bytes(closing)} * ${units} + ${bytes(close)}`
}
