import { expect, it } from 'vitest'
import { CodeDeltas } from './code-deltas.js'

/** Adds the JSON in pieces of this many characters. */
function decode(json: string, size: number): string {
  const deltas = new CodeDeltas()
  let code = ''
  for (let start = 0; start < json.length; start += size) code += deltas.add(json.slice(start, start + size))
  return code
}

const source = 'print("a\\b", \'\u{1F600}\')\n\tx = {"code": [1, "}"]}  # "quoted" \u2028'

it.each([1, 2, 3, 7, 1_000])('reads the code of a tool use from pieces of %i characters', (size) => {
  expect(decode(JSON.stringify({ code: source }), size)).toBe(source)
  expect(decode(JSON.stringify({ code: source }, null, 2), size)).toBe(source)
})

it('reads escaped characters of code', () => {
  expect(decode('{"c\\u006fde": "\\u0041\\/\\ud83d\\ude00"}', 1)).toBe('A/\u{1F600}')
})

it('reading code ignores other members, also when they contain a member of this name', () => {
  const input = { note: 'code', nested: { code: 'no' }, list: ['code', 'no'], code: 'yes', after: 'code' }
  expect(decode(JSON.stringify(input), 3)).toBe('yes')
})

it.each(['', '}{', '"code"', '{"code": 5}', '{"code": "\\uZZZZ"}', '[1, "code"'])(
  'finds no code in the input %s',
  (json) => {
    expect(decode(json, 1)).toBe('')
  },
)

it('returns the code of a truncated input', () => {
  expect(decode('{"code": "await ping()\\nprint(', 4)).toBe('await ping()\nprint(')
})
