import { describe, expect, it } from 'vitest'
import { checkModel } from './check-model.js'

describe('checkModel', () => {
  it.each(['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'])('finds %s, and never shows it', (name) => {
    const check = checkModel({ [name]: 'sk-secret', ANTHROPIC_BASE_URL: 'http://proxy' })
    expect(check).toEqual({ name: 'Model', status: 'ok', message: `${name} is set, asked at http://proxy` })
  })

  it.each([{}, { ANTHROPIC_API_KEY: ' ' }])('warns when there is none: %j', (environment) => {
    expect(checkModel(environment)).toMatchObject({ status: 'warning', remedy: expect.stringContaining('Set one') })
  })
})
