import type { JsonValue } from '../../../src/common/json/json.js'
import {
  hostileFamilies,
  hostileJson,
  largeMessages,
  stringFamilies,
  maxUnitsOf,
} from '../../support/faults/hostile-frames.js'
import { protocolVersion } from '../../../src/sandbox/protocol/messages.js'
import type { Random } from '../../support/random.js'

/** One valid runner message of each kind. */
export const validMessages: readonly JsonValue[] = [
  { type: 'ready', protocol: protocolVersion, session: 's', step: 0, language: 'Python 3.11' },
  { type: 'output', step: 1, text: 'printed' },
  {
    type: 'suspended',
    step: 1,
    calls: [{ call: 1, tool: 'get', arguments: { a: [1, null, { b: 'é😀' }] } }],
    wake_in: null,
    output: '',
  },
  { type: 'completed', step: 1, output: 'done' },
  { type: 'failed', step: 1, kind: 'code_error', error: 'Traceback', output: '' },
  { type: 'refused', step: 1, fence: [1, 1, 1], kind: 'invalid', reason: 'expected step 2' },
]

/** JSON texts, because some values are not valid JSON. */
const hostileValues: readonly string[] = [
  'null',
  'true',
  '-1',
  '0',
  '-0',
  '1e999',
  '9007199254740993',
  '0.5',
  'NaN',
  '""',
  '"__proto__"',
  String.raw`"\ud800"`,
  String.raw`"\u0000"`,
  `"${'x'.repeat(5_000)}"`,
  '[]',
  '{}',
  '[[[[[]]]]]',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  `${'['.repeat(3_000)}${']'.repeat(3_000)}`,
  `[${'1,'.repeat(20_000)}1]`,
  '"suspended"',
  '"completed"',
  '"hello"',
]

/** Returns a mutated copy of a valid frame. */
export function mutatedFrame(random: Random): Buffer {
  const message = random.oneOf(validMessages)
  const body = Buffer.from(random.below(4) === 0 ? JSON.stringify(message) : mutatedText(message, random))
  const header = Buffer.alloc(4)
  // Sometimes the length is wrong.
  header.writeUInt32BE(random.below(12) === 0 ? random.below(2 ** 32) : body.length)
  const frame = Buffer.concat([header, body])
  if (random.below(6) === 0) frame[random.below(frame.length)] = random.below(256)
  return random.below(12) === 0 ? frame.subarray(0, random.below(frame.length)) : frame
}

/** Returns the message with some values, at any depth, replaced, removed or duplicated. */
function mutatedText(value: JsonValue, random: Random): string {
  if (random.below(9) === 0) return random.oneOf(hostileValues)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) {
    const items = value.flatMap((item: JsonValue) => Array.from({ length: random.below(6) === 0 ? 2 : 1 }, () => item))
    return `[${items.map((item: JsonValue) => mutatedText(item, random)).join(',')}]`
  }
  const fields = Object.entries(value).flatMap(([key, member]) => {
    const field = `${JSON.stringify(key)}:${mutatedText(member, random)}`
    switch (random.below(14)) {
      case 0:
        return []
      case 1:
        return [field, `${JSON.stringify(key)}:${random.oneOf(hostileValues)}`]
      case 2:
        return [field, `"__proto__":${random.oneOf(hostileValues)}`]
      default:
        return [field]
    }
  })
  return `{${fields.join(',')}}`
}

/** Returns a message of about the largest size that the host reads, with values of one, two or three families. */
export function largeFrame(random: Random, type: keyof typeof largeMessages): Buffer {
  const families = type === 'suspended' ? hostileFamilies : stringFamilies
  const count = 1 + random.below(3)
  const values = Array.from({ length: count }, () => {
    const family = random.oneOf(families)
    return hostileJson(family, maxUnitsOf(family, (random.below(20) === 0 ? 1.2 : 0.99) / count))
  })
  const value =
    type === 'suspended'
      ? `{${values.map((value, index) => `"a${index}":${value}`).join(',')}}`
      : `"${values.map((value) => value.slice(1, -1)).join('')}"`
  const body = Buffer.from(largeMessages[type].replace('%d', '1').replace('%s', () => value))
  const header = Buffer.alloc(4)
  header.writeUInt32BE(body.length)
  return Buffer.concat([header, body])
}
