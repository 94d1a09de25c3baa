import { expect, it } from 'vitest'
import type { JsonObject } from '../../common/json/json.js'
import { listServerTools, parseArguments } from './tools.js'

const language = { type: 'string', enum: ['python', 'bash'] }

function codeTool(properties: JsonObject) {
  const tool = { name: 'execute_code', description: 'Runs code.', outputSchema: undefined, effect: undefined }
  const offered = { tools: [{ ...tool, inputSchema: { type: 'object', properties } }], agents: [] }
  const [listed] = listServerTools({ ...offered, outputCharacters: 1, search: () => '' })
  return listed?.inputSchema
}

it('execute_code takes the language of code if the configuration has several', () => {
  expect(codeTool({ language, code: { type: 'string' } })).toMatchObject({
    required: ['code'],
    additionalProperties: false,
    properties: { language, code: { type: 'string' }, session: {}, wait_seconds: {} },
  })
  const { properties } = codeTool({ code: { type: 'string' } }) ?? {}
  expect(Object.keys(properties ?? {})).toEqual(['code', 'session', 'wait_seconds'])
})

it('the language of code is a short text', () => {
  expect(parseArguments('code', { code: 'ls', language: 'bash' })).toMatchObject({ language: 'bash' })
  for (const wrong of [7, null, 'x'.repeat(1_000)])
    expect(() => parseArguments('code', { code: 'ls', language: wrong })).toThrow('language')
})
