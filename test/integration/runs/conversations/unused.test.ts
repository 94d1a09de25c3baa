import { expect, it } from 'vitest'
import { checkConversationOptions } from '../../../../src/client/conversations/conversation-options.js'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { text, turn } from '../../../support/script.js'

it('an unused conversation closes itself after the time of its start options', async () => {
  const closeAfterMs = 1_500
  const { conversation, env, handle } = await TestConversation.start(
    { backend: 'wasm', script: [turn(text('one')), turn(text('two'))] },
    { closeAfterMs },
  )
  await conversation.ask('Hi.')
  const { lastUsedAt } = await conversation.status()
  expect(await handle.result()).toMatchObject({ messages: 1 })
  const { closeTime } = await handle.describe()
  expect(closeTime?.getTime()).toBeGreaterThanOrEqual(lastUsedAt + closeAfterMs)
  await expect(conversation.status()).rejects.toMatchObject({ code: 'CONVERSATION_CLOSED' })
  await env.expectCleanEnd(handle)
})

it('refuses a closing time that is not a positive number of milliseconds', () => {
  for (const wrong of [0, -1, 1.5, Number.NaN])
    expect(() => checkConversationOptions({ closeAfterMs: wrong })).toThrow('closeAfterMs')
})
