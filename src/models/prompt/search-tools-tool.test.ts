import { expect, it } from 'vitest'
import { documentManyTools } from '../../../test/support/many-tools.js'
import { defaultLimits as limits } from '../../common/run/limits.js'
import { estimateTokens } from '../../common/agent/context-window.js'
import type { ToolDocumentation } from '../../tools/documentation/document-tools.js'
import { toParams } from '../anthropic/request.js'
import { buildPrompt } from './prompt.js'

const tools = documentManyTools()

const tokensOf = (all: readonly ToolDocumentation[], toolSearch: boolean): number =>
  estimateTokens(JSON.stringify(buildPrompt({ tools: all, limits, toolSearch })).length)

it('a tool list describes each of many tools once, in one line', () => {
  const { tools: sent } = buildPrompt({ tools: tools.slice(0, 60), limits, toolSearch: true, readMore: true })
  expect(sent.map(({ name }) => name)).toEqual(['execute_code', 'search_tools', 'read_more'])
  expect(sent[0]?.description).toContain(
    'get_domestic_customer(customer_id, department, since, limit)  # Gets domestic records of type customer.\n',
  )
  expect(sent[0]?.description).not.toContain('async def')
})

it('a tool list of very many tools has no summaries', () => {
  const { tools: sent } = buildPrompt({ tools, limits, toolSearch: true })
  const { description = '' } = sent[0] ?? {}
  expect(description).toContain('\nget_domestic_customer(customer_id, department, since, limit)\n')
  for (const { name } of tools) expect(description).toContain(`\n${name}(`)
})

it('one line for each of 200 tools costs a fraction of the tokens', () => {
  const [before, after] = [tokensOf(tools, false), tokensOf(tools, true)]
  // docs/guides/context.md has the figures: 36,200 and 4,200.
  expect(before).toBeGreaterThan(30_000)
  expect(after).toBeLessThan(5_000)
})

it('keeps the definitions of tools only for the model, and offers no search without tools for code', () => {
  const [first] = tools
  if (!first) throw new Error('there are tools')
  const direct: ToolDocumentation = { ...first, name: 'ask_person', offeredTo: ['direct'] }
  const names = (all: readonly ToolDocumentation[]) =>
    buildPrompt({ tools: all, limits, toolSearch: true }).tools.map(({ name }) => name)
  expect(names([...tools, direct])).toEqual(['execute_code', 'search_tools', 'ask_person'])
  expect(names([direct])).toEqual(['execute_code', 'ask_person'])
})

it('the search of the provider covers tools only for the model, for a fraction of their definitions', () => {
  const direct = tools.map((each): ToolDocumentation => ({ ...each, offeredTo: ['direct'] }))
  const tokens = (providerSearch: boolean): number => {
    const prompt = buildPrompt({ tools: direct, limits, readMore: true, toolSearch: true, providerSearch })
    const request = { model: 'm', maxTokens: 1, messages: [], ...prompt }
    const { system, tools: sent = [] } = toParams(request, {
      hasInputExamples: true,
      hasToolSearch: true,
      hasNativeTools: true,
    })
    const present = sent.filter((each) => !('defer_loading' in each))
    expect(sent).toHaveLength(providerSearch ? 203 : 202)
    return estimateTokens(JSON.stringify({ system, present }).length)
  }
  const [before, after] = [tokens(false), tokens(true)]
  // docs/guides/context.md has the figures: 40,900 and 600.
  expect(before).toBeGreaterThan(40_000)
  expect(after).toBeLessThan(1_000)
})
