import { describe, expect, it } from 'vitest'
import { prepareDemoModel } from './demo-model.js'

const script = [{ reply: { content: [{ type: 'text', text: 'hello' }] } }] as const

describe('prepareDemoModel', () => {
  it.each(['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'])('the demo uses the real API when %s is set', async (name) => {
    const model = await prepareDemoModel(script, { [name]: 'key' })
    expect(model).toMatchObject({ scriptedApi: undefined, notice: expect.stringContaining('the real API') })
  })

  it.each([{}, { ANTHROPIC_API_KEY: ' ' }])(
    'the demo starts a scripted model with the environment %j',
    async (environment) => {
      const model = await prepareDemoModel(script, environment)
      await model.close()
      expect(model).toMatchObject({
        scriptedApi: { baseURL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/), apiKey: 'no-api-key' },
        notice: expect.stringContaining('a script plays the model'),
      })
    },
  )
})
