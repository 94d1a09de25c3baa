import { afterEach, expect, test, vi } from 'vitest'
import { hasCredentials } from './has-credentials.js'

afterEach(() => vi.unstubAllEnvs())

test.each([
  [{}, false],
  [{ ANTHROPIC_API_KEY: '' }, false],
  [{ ANTHROPIC_API_KEY: 'key' }, true],
  [{ ANTHROPIC_AUTH_TOKEN: 'token' }, true],
  [{ ANTHROPIC_PROFILE: 'there-is-none' }, true],
])('finds credentials in the environment %j: %s', async (variables: Readonly<Record<string, string>>, expected) => {
  for (const name of Object.keys(process.env)) if (name.startsWith('ANTHROPIC_')) vi.stubEnv(name, undefined)
  vi.stubEnv('XDG_CONFIG_HOME', '/nonexistent')
  vi.stubEnv('HOME', '/nonexistent')
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  expect(await hasCredentials()).toBe(expected)
})
