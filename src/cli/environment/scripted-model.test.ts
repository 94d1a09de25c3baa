import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it, vi } from 'vitest'
import { parseConfig } from '../../config/parse-config.js'
import { startScriptedModel } from './scripted-model.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
writeFileSync(join(folder, 'scripted-model.json'), '[{ "reply": { "content": [{ "type": "text", "text": "Hi" }] } }]')
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => vi.unstubAllEnvs())

it.each([
  [{}, true],
  [{ model: { name: 'claude-sonnet-5-5' } }, true],
  [{ model: { name: 'openai/gpt-5.6' } }, false],
  [{ providers: { anthropic: { kind: 'anthropic', apiKey: { environment: 'MY_KEY' } } } }, false],
])('a script replaces only a model that needs the missing key of Anthropic: %j: %s', async (config, isReplaced) => {
  for (const name of Object.keys(process.env)) if (name.startsWith('ANTHROPIC_')) vi.stubEnv(name, undefined)
  vi.stubEnv('XDG_CONFIG_HOME', '/nonexistent')
  vi.stubEnv('HOME', '/nonexistent')
  const parsed = { ...parseConfig({ tools: [], ...config }, 'test'), path: join(folder, 'ptc.config.ts') }
  const api = await startScriptedModel(parsed)
  await api?.close()
  expect(api !== undefined).toBe(isReplaced)
})
