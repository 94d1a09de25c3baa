import { describe, expect, it } from 'vitest'
import { prepareDemoModel } from './demo-model.js'

const script = [{ reply: { content: [{ type: 'text', text: 'hello' }] } }] as const

describe('prepareDemoModel', () => {
  it.each(['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'])('uses the real API when %s is set', async (name) => {
    const environment: Record<string, string | undefined> = { [name]: 'key' }
    const model = await prepareDemoModel(script, environment)
    expect(model).toMatchObject({ isScripted: false, notice: expect.stringContaining('the real API') })
    expect(environment).toEqual({ [name]: 'key' })
  })

  it('starts a scripted model without a key, says so, and restores the environment', async () => {
    const environment: Record<string, string | undefined> = { ANTHROPIC_BASE_URL: 'http://proxy' }
    const model = await prepareDemoModel(script, environment)
    expect(model).toMatchObject({ isScripted: true, notice: expect.stringContaining('a script plays the model') })
    expect(environment).toEqual({
      ANTHROPIC_BASE_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      ANTHROPIC_API_KEY: 'scripted',
    })
    await model.close()
    expect(environment).toEqual({ ANTHROPIC_BASE_URL: 'http://proxy' })
  })

  it('restores a blank key', async () => {
    const environment: Record<string, string | undefined> = { ANTHROPIC_API_KEY: ' ' }
    const model = await prepareDemoModel(script, environment)
    await model.close()
    expect(environment).toEqual({ ANTHROPIC_API_KEY: ' ' })
  })
})
