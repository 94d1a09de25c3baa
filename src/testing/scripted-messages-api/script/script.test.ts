import { expect, test } from 'vitest'
import { parseScript } from './script.js'

const reply = { content: [{ type: 'text', text: 'Hi' }] }

test('a script with an array of turns applies to every conversation', () => {
  expect(parseScript([{ reply }])).toEqual([{ turns: [{ reply }] }])
})

test('accepts a script that was JSON', () => {
  const script = {
    conversations: [
      {
        match: { firstUserText: { pattern: '^Who' } },
        turns: [
          {
            match: { assistantMessages: 1, lastToolResult: { includes: 'error' } },
            reply: {
              content: [
                { type: 'tool_use', name: 'x', partial_json: '{"a' },
                { type: 'mood', value: [1, null] },
              ],
            },
            faults: [{ type: 'cut', attempt: [1, 2], at: { insideBlock: 0 }, mode: 'reset' }],
            msPerChunk: 5,
          },
        ],
      },
    ],
  }
  expect(parseScript(JSON.parse(JSON.stringify(script)))).toEqual(script.conversations)
})

const wrong: readonly (readonly [name: string, script: unknown, message: string])[] = [
  ['no object', 'hello', 'script: Invalid input: expected object, received string'],
  ['no turns', [], 'script: Too small: expected array to have >=1 items'],
  ['no reply', [{}], 'script[0].reply: Invalid input: expected object, received undefined'],
  ['an unknown field', [{ reply, respnse: 1 }], 'script[0]: Unrecognized key: "respnse"'],
  ['a text block without text', [{ reply: { content: [{ type: 'text' }] } }], 'script[0].reply.content[0].text: '],
  [
    'an unknown placeholder',
    [{ reply: { content: [{ type: 'text', text: '{{last_result}}' }] } }],
    'script[0].reply.content[0].text: there is no placeholder {{last_result}}',
  ],
  [
    'a call without input',
    [{ reply: { content: [{ type: 'tool_use', name: 'x' }] } }],
    'script[0].reply.content[0].input: ',
  ],
  [
    'a block that is no JSON',
    [{ reply: { content: [{ type: 'x', when: new Date(0) }] } }],
    'script[0].reply.content[0].when: ',
  ],
  ['a match without conditions', [{ reply, match: {} }], 'script[0].match: needs at least one condition'],
  [
    'a broken pattern',
    [{ reply, match: { lastUserText: { pattern: '(' } } }],
    'script[0].match.lastUserText.pattern: is not a regular expression',
  ],
  ['an unknown fault', [{ reply, faults: [{ type: 'explode', attempt: 1 }] }], 'script[0].faults[0].type: '],
  ['a fault without attempt', [{ reply, faults: [{ type: 'close' }] }], 'script[0].faults[0].attempt: '],
  [
    'a fault at no place',
    [{ reply, faults: [{ type: 'stall', attempt: 1, at: 'end' }] }],
    'script[0].faults[0].at: must be { bytes: n }, { insideBlock: n } or { before: ',
  ],
  [
    'a success as fault',
    [{ reply, faults: [{ type: 'status', attempt: 1, status: 200 }] }],
    'script[0].faults[0].status: ',
  ],
  [
    'two conversations without match',
    { conversations: [{ turns: [{ reply }] }, { turns: [{ reply }] }] },
    'script.conversations: only one conversation can be without match',
  ],
]

test.each(wrong)('rejects a script with %s and names the position', (_name, script, message) => {
  expect(() => parseScript(script)).toThrowError(
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) }),
  )
})
