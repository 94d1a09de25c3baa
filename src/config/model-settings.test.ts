import { expect, it } from 'vitest'
import { defineAgent } from '../agents/index.js'
import { messageOf as errorMessageOf } from '../common/errors.js'
import { parseConfig } from './parse-config.js'

function messageOf(config: unknown): string {
  try {
    parseConfig(config, 'x')
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'CONFIG_INVALID', hint: expect.stringMatching(/\.$/) as string })
    return errorMessageOf(thrown)
  }
  throw new Error('the configuration was accepted')
}

it('records the settings of the model', () => {
  const serverTools = { anthropic: [{ type: 'web_search_20260318', name: 'web_search' }] }
  const model = { thinking: { budgetTokens: 2_000 }, effort: 'high', serverTools }
  expect(parseConfig({ tools: [], model }, 'x').runConfig.model).toMatchObject(model)
  expect(parseConfig({ tools: [] }, 'x').runConfig.model).not.toHaveProperty('serverTools')
})

it.each([
  [{ temperature: 0, thinking: 'adaptive' }, 'model: temperature and thinking exclude each other'],
  [
    { maxTokens: 2_000, thinking: { budgetTokens: 2_000 } },
    'model: thinking.budgetTokens is 2000; it must be less than model.maxTokens (2000)',
  ],
  [
    { serverTools: { antropic: [{ type: 'x' }] } },
    'model: serverTools: there is no provider "antropic". Did you mean "anthropic"?',
  ],
  [
    { serverTools: { anthropic: [{ type: 'bash_20250124', name: 'bash' }] } },
    'model: serverTools: bash_20250124 is a tool that the client executes, not the server',
  ],
  [{ serverTools: { openai: ['web_search'] } }, expect.stringContaining('must be a tool as the API has it')],
])('refuses settings of the model: %j', (model, message) => {
  expect(messageOf({ tools: [], model })).toEqual(message)
})

it.each([
  [
    { thinking: { budgetTokens: 9_000 } },
    'agent a: thinking.budgetTokens is 9000; it must be less than model.maxTokens (8192)',
  ],
  [{ thinking: 'adaptive', temperature: 0 }, 'agent a: temperature and thinking exclude each other'],
  [{ thinking: 'on' }, expect.stringContaining('agent a: ✖ must be "adaptive", "off" or')],
  [{ effort: 'most' }, expect.stringContaining('effort')],
  [{ serverTools: { mine: [{ type: 'x' }] } }, 'agent a: serverTools: there is no provider "mine"'],
])('refuses settings of the model of an agent: %j', (settings, message) => {
  const agent = defineAgent({ name: 'a', instructions: 'b', ...settings } as never)
  expect(messageOf({ tools: [], agents: [agent] })).toEqual(message)
})
