import { randomInt } from 'node:crypto'
import { expect, it } from 'vitest'
import type { PtcConfig } from '../../src/index.js'
import { createAnthropicProvider } from '../../src/models/anthropic/provider.js'
import { TestEnvironment } from '../support/environment/test-environment.js'
import { tool } from '../support/tools.js'

// `npm run test:live`: real models, paid with the keys of the environment. CONTRIBUTING.md lists the variables.

type Provider = NonNullable<PtcConfig['providers']>[string]

interface LiveModel {
  readonly name: string
  /** Variables without which the test is skipped. */
  readonly needs: readonly string[]
  readonly model: string
  readonly provider: () => Provider
}

const variable = (name: string): string => process.env[name] ?? ''

const openai = (baseURL: string, key: string): Provider => ({
  kind: 'openai',
  baseURL,
  ...(key !== '' && { apiKey: { environment: key } }),
})

const models: readonly LiveModel[] = [
  {
    name: 'Anthropic',
    needs: ['ANTHROPIC_API_KEY'],
    model: variable('PTC_LIVE_ANTHROPIC_MODEL') || 'claude-haiku-4-5',
    // The option of the test environment points to its scripted server.
    provider: () => createAnthropicProvider({ keyVariable: 'ANTHROPIC_API_KEY' }),
  },
  ...(['chat', 'responses'] as const).map((api) => ({
    name: `OpenAI, ${api}`,
    needs: ['OPENAI_API_KEY'],
    model: variable('PTC_LIVE_OPENAI_MODEL') || 'gpt-5-mini',
    provider: () => ({ kind: 'openai', api }) as const,
  })),
  {
    name: 'Gemini',
    needs: ['GEMINI_API_KEY'],
    model: variable('PTC_LIVE_GEMINI_MODEL') || 'gemini-2.5-flash',
    provider: () => openai('https://generativelanguage.googleapis.com/v1beta/openai', 'GEMINI_API_KEY'),
  },
  {
    name: 'Mistral',
    needs: ['MISTRAL_API_KEY'],
    model: variable('PTC_LIVE_MISTRAL_MODEL') || 'mistral-small-latest',
    provider: () => openai('https://api.mistral.ai/v1', 'MISTRAL_API_KEY'),
  },
  {
    name: 'Bedrock',
    needs: ['PTC_LIVE_BEDROCK_MODEL'],
    model: variable('PTC_LIVE_BEDROCK_MODEL'),
    provider: () => ({ kind: 'bedrock' }),
  },
  {
    name: 'a compatible server',
    needs: ['PTC_LIVE_BASE_URL', 'PTC_LIVE_MODEL'],
    model: variable('PTC_LIVE_MODEL'),
    provider: () => openai(variable('PTC_LIVE_BASE_URL'), process.env['PTC_LIVE_API_KEY'] ? 'PTC_LIVE_API_KEY' : ''),
  },
]

for (const { name, needs, model, provider } of models) {
  const missing = needs.filter((each) => variable(each) === '')
  if (missing.length > 0) process.stderr.write(`SKIPPED ${name}: ${missing.join(' and ')} not set\n`)
  it.skipIf(missing.length > 0)(`a run by ${name} calls a tool from code, and answers with its result`, async () => {
    const secret = String(randomInt(100_000, 1_000_000))
    const env = await TestEnvironment.start({
      tools: [tool('secret_number', () => secret, { allowedCallers: ['code_execution'] })],
      providers: { live: provider() },
      limits: { turns: 6 },
    })
    const question = 'What does the tool secret_number return? Find out with code, and answer with the number.'
    const result = await env.runAgent({ model: `live/${model}`, question })
    expect(result).toMatchObject({ status: 'answered', answer: expect.stringContaining(secret) as string })
    expect(result.cells).toBeGreaterThan(0)
    expect(result.usage.outputTokens).toBeGreaterThan(0)
  })
}
