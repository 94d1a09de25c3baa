import { expect, it } from 'vitest'
import type { AssistantBlock } from '../../common/agent/messages.js'
import { toSent, toStored } from './conversation.js'

const text: AssistantBlock = { type: 'text', text: 'So' }
const use: AssistantBlock = { type: 'tool_use', id: 't', name: 'ping', input: {} }
const thinking: AssistantBlock = { type: 'thinking', thinking: 'Hm', signature: 's' }
const search: AssistantBlock = { type: 'server_tool_use', id: 's', name: 'tool_search_tool_bm25', input: {} }
const author = { provider: 'anthropic', name: 'a' }

it.each([
  ['the model that wrote it', author, false, [thinking, search, text, use]],
  ['another model of its provider', { provider: 'anthropic', name: 'b' }, false, [search, text, use]],
  ['another provider', { provider: 'anthropic2', name: 'a' }, false, [text, use]],
  ['another provider that executes code', { provider: 'gateway', name: 'a' }, true, [search, text, use]],
])('a reply sent to %s has only blocks that this model can read', (_what, model, isHosted, content) => {
  const stored = toStored([thinking, search, text, use], author)
  expect(toSent(stored, model, isHosted)).toEqual({ role: 'assistant', content })
})

const citedText = { ...text, citations: [{ cited_text: 'x' }] }
const caller = { type: 'direct' }
const signedUse = { ...use, provider_specific_fields: { thought_signature: 'zz' }, input_problem: 'no JSON', caller }
const plainUse = { ...use, input_problem: 'no JSON' }

it.each([
  ['the model that wrote it', author, false, [citedText, signedUse]],
  ['another model of its provider', { provider: 'anthropic', name: 'b' }, false, [citedText, signedUse]],
  ['another provider', { provider: 'anthropic2', name: 'a' }, false, [text, plainUse]],
  ['another provider that executes code', { provider: 'gateway', name: 'a' }, true, [text, { ...plainUse, caller }]],
])('a text and a tool use for %s have the members that this one can read', (_what, model, isHosted, content) => {
  const stored = toStored([citedText, signedUse], author)
  expect(toSent(stored, model, isHosted)).toEqual({ role: 'assistant', content })
})

it.each([[citedText], [{ ...use, caller }], [{ ...use, x: null }]])('keeps the author of a reply with %j', (block) => {
  expect(toStored([block], author)).toMatchObject({ model: 'anthropic/a' })
  expect(toStored([plainUse], author)).not.toHaveProperty('model')
})

it('a reply that all can read has no author, and one without an author is sent as it is', () => {
  expect(toStored([text, use], author)).toEqual({ role: 'assistant', content: [text, use] })
  const elsewhere = { role: 'assistant', content: [search, text] } as const
  expect(toSent(elsewhere, { provider: 'openai', name: 'm' }, false)).toEqual(elsewhere)
})
