import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defaultLimits } from '../common/run/limits.js'
import { defineAgent } from '../agents/index.js'
import { defineTool } from '../tools/index.js'
import { parseConfig } from './parse-config.js'
import { testSettings } from './test-settings.js'

const definition = {
  name: 'ping',
  description: 'Answers.',
  input: z.object({}),
  output: z.string(),
  effect: 'read',
  run: () => 'pong',
} as const

const ping = defineTool(definition)

function messageOf(config: unknown): string {
  try {
    parseConfig(config, 'ptc.config.ts')
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'CONFIG_INVALID', hint: expect.stringMatching(/\.$/) })
    return (thrown as Error).message
  }
  return 'accepted'
}

describe('parseConfig', () => {
  it('a configuration gets every default', () => {
    const { runConfig, tools, sandbox, values, taskQueue, idleTimeoutMs, instructions } = parseConfig(
      { tools: [ping] },
      'x',
      '/project',
    )
    expect(values).toEqual({
      store: { kind: 'local', directory: resolve('/project/.ptc/values') },
    })
    expect(runConfig).toMatchObject({
      backend: 'auto',
      limits: defaultLimits,
      model: { provider: 'anthropic', maxTokens: 8_192 },
      compaction: { threshold: 0.8 },
      documentedTools: 40,
      timeouts: {
        heartbeatMs: 10_000,
        hostMs: 30_000,
        modelMs: 600_000,
        parkMs: 60_000,
        idleMs: 270_000,
      },
      sessions: { idleMs: 270_000 },
      snapshots: {},
    })
    expect(tools.known.toolConfigs()).toMatchObject([
      { name: 'ping', allowedCallers: ['direct', 'code_execution'], effect: 'read', timeoutMs: 60_000, attempts: 3 },
    ])
    expect({ sandbox, taskQueue, idleTimeoutMs, instructions }).toEqual({
      sandbox: { backend: 'auto', docker: {}, wasm: {}, agentImages: [] },
      taskQueue: 'durable-ptc',
      idleTimeoutMs: 60_000,
      instructions: undefined,
    })
  })

  it('a configuration accepts every setting', () => {
    const { runConfig, sandbox, idleTimeoutMs } = parseConfig(
      {
        tools: [],
        model: { name: 'm', maxTokens: 10, temperature: 0.5, idleTimeout: 1_500 },
        sandbox: { backend: 'wasm', warm: 3 },
        limits: { turns: 3, cellSeconds: 0.5 },
        timeouts: { model: '500ms', park: '2m' },
        sessions: { idle: '1h' },
      },
      'x',
    )
    expect(idleTimeoutMs).toBe(1_500)
    expect(sandbox.warm).toBe(3)
    expect(runConfig).toMatchObject({
      backend: 'wasm',
      model: { name: 'm', maxTokens: 10, temperature: 0.5 },
      limits: { ...defaultLimits, turns: 3, cellSeconds: 0.5 },
      timeouts: { modelMs: 500, parkMs: 120_000 },
      sessions: { idleMs: 3_600_000 },
    })
  })

  it('only a test gives constants other values, under a symbol that is no option', () => {
    const settings = { limits: { historyEvents: 100 }, timeouts: { hostMs: 1 }, snapshots: { everySteps: 2 } }
    const { runConfig, values } = parseConfig({ tools: [], [testSettings]: { ...settings, retryForMs: 3 } }, 'x')
    const { limits: loweredLimits, ...others } = settings
    expect(runConfig).toMatchObject({ ...others, limits: defaultLimits, loweredLimits })
    expect(values.retryForMs).toBe(3)
    expect(messageOf({ tools: [], limits: { historyEvents: 100 } })).toContain('Unrecognized key: "historyEvents"')
  })

  it('compacts messages at a share of a configured window, or never', () => {
    const runConfigOf = (config: object) => parseConfig({ tools: [], ...config }, 'x').runConfig
    expect(runConfigOf({ model: { contextWindow: 8_000 }, compaction: { threshold: 0.5 } })).toMatchObject({
      model: { contextWindow: 8_000 },
      compaction: { threshold: 0.5 },
    })
    expect(runConfigOf({ compaction: false })).not.toHaveProperty('compaction')
    expect(messageOf({ tools: [], compaction: { threshold: 80 } })).toContain('share of the context window')
    expect(messageOf({ tools: [], model: { contextWindow: 100 } })).toContain('at least 1,000')
  })

  it('accepts context management only for models of providers that support it', () => {
    const mine = { turn: () => undefined, close: () => undefined }
    const config = (name: string | readonly string[]) => ({
      tools: [],
      model: { name },
      providers: { gateway: { kind: 'anthropic' }, mine, able: { ...mine, managesContext: true } },
      compaction: { provider: true },
    })
    const { compaction } = parseConfig(config(['claude-sonnet-5-5', 'gateway/m', 'able/m']), 'x').runConfig
    expect(compaction).toEqual({ threshold: 0.8, provider: true })
    for (const name of ['openai/gpt-5.6', 'bedrock/m', 'mine/m', ['claude-sonnet-5-5', 'openai/gpt-5.6']]) {
      expect(messageOf(config(name))).toMatch(
        /compaction\.provider: provider \w+ of model \S+ has no context management/,
      )
    }
    const off = { ...config('openai/gpt-5.6'), compaction: { provider: false } }
    expect(parseConfig(off, 'x').runConfig.compaction).toEqual({ threshold: 0.8 })
  })

  it('accepts a bucket, or a folder relative to the configuration, for values', () => {
    const local = { tools: [], values: { store: { kind: 'local', directory: '../shared' } } }
    expect(parseConfig(local, 'x', '/project').values).toEqual({
      store: { kind: 'local', directory: resolve('/shared') },
    })
    const store = {
      kind: 's3',
      bucket: 'my-values',
      prefix: 'team/a',
      endpoint: 'http://minio:9000',
      forcePathStyle: true,
    }
    expect(parseConfig({ tools: [], values: { store } }, 'x').values).toEqual({
      store: { ...store, prefix: 'team/a/', region: undefined },
    })
  })

  it('requires a source for each credential that a tool declares', async () => {
    const tool = defineTool({ ...definition, credentials: ['github'] })
    const credentials = { github: { file: 'token' }, other: () => 'secret-value' }
    expect(parseConfig({ tools: [tool], credentials }, 'x', '/project').credentials.names).toEqual(['github', 'other'])
    expect(messageOf({ tools: [tool], credentials: { githab: { file: 'token' } } })).toBe(
      'tool ping needs credential github, and the configuration has no source for it. Did you mean "githab"?',
    )
  })

  it.each<[string, unknown, string]>([
    [
      'a credential without a source',
      { tools: [], credentials: { github: {} } },
      '✖ must be { environment }, { file }, { command: [program, …] } or a function\n  → at credentials.github',
    ],
    [
      'an empty command',
      { tools: [], credentials: { github: { command: [] } } },
      '✖ must be { environment }, { file }, { command: [program, …] } or a function\n  → at credentials.github',
    ],
    ['nothing', undefined, '✖ Invalid input: expected object, received undefined'],
    ['a list', [], '✖ Invalid input: expected object, received array'],
    ['no tools', {}, '✖ Invalid input: expected array, received undefined\n  → at tools'],
    ['a misspelt key', { tools: [], limit: {} }, '✖ Unrecognized key: "limit". Did you mean "limits"?'],
    ['no turns', { tools: [], limits: { turns: 0 } }, '✖ Too small: expected number to be >=1\n  → at limits.turns'],
    [
      'a result limit that no tool can reach',
      { tools: [], limits: { resultBytes: 2 * 1024 ** 3 } },
      '✖ a tool has its result in memory; at most 1 GiB\n  → at limits.resultBytes',
    ],
    [
      'too little memory',
      { tools: [], limits: { memoryBytes: 1_000 } },
      '✖ a session needs at least 32 MiB\n  → at limits.memoryBytes',
    ],
    [
      'no duration',
      { tools: [], timeouts: { park: 'soon' } },
      '✖ must be a duration such as "500ms", "30s" or "2m"\n  → at timeouts.park',
    ],
    [
      'an option of snapshots',
      { tools: [], snapshots: { bytes: 1 } },
      '✖ must be false, or left out\n  → at snapshots',
    ],
    [
      'an unknown store',
      { tools: [], values: { store: { kind: 'gcs' } } },
      "✖ Invalid discriminator value. Expected 'local' | 's3'\n  → at values.store.kind",
    ],
    [
      'a bucket without a name',
      { tools: [], values: { store: { kind: 's3' } } },
      '✖ Invalid input: expected string, received undefined\n  → at values.store.bucket',
    ],
    [
      'a bucket that can be none',
      { tools: [], values: { store: { kind: 's3', bucket: 'My_Bucket' } } },
      '✖ must be the name of a bucket (3 to 63 of a-z, 0-9, dot and hyphen) or an ARN\n  → at values.store.bucket',
    ],
    [
      'a prefix with a slash before it',
      { tools: [], values: { store: { kind: 's3', bucket: 'values', prefix: '/a' } } },
      '✖ must not begin with a slash\n  → at values.store.prefix',
    ],
    ...['minio:9000', 'ftp://minio', 'http://me:secret@minio'].map((endpoint): [string, unknown, string] => [
      `the endpoint ${endpoint}`,
      { tools: [], values: { store: { kind: 's3', bucket: 'values', endpoint } } },
      '✖ must be an http(s) address without user, password, query or fragment; the AWS SDK finds credentials\n  → at values.store.endpoint',
    ]),
    [
      'credentials',
      { tools: [], values: { store: { kind: 's3', bucket: 'values', secretAccessKey: 'x' } } },
      '✖ Unrecognized key: "secretAccessKey"\n  → at values.store',
    ],
    [
      'an unknown backend',
      { tools: [], sandbox: { backend: 'podman' } },
      '✖ must be "auto", "docker", "wasm", "kubernetes", "anthropic" or the result of defineBackend\n  → at sandbox.backend',
    ],
    [
      'an unknown kind of provider',
      { tools: [], providers: { acme: { kind: 'acme' } } },
      '✖ must have a kind ("anthropic", "openai", "bedrock" or "ai-sdk"), or be a ModelProvider\n  → at providers.acme.kind',
    ],
    [
      'a key in a provider',
      { tools: [], providers: { acme: { kind: 'openai', apiKey: 'sk-secret' } } },
      '✖ Invalid input: expected object, received string\n  → at providers.acme.apiKey',
    ],
    [
      'a slash in the name of a provider',
      { tools: [], providers: { 'a/b': { kind: 'openai' } } },
      '✖ Invalid key in record\n  → at providers["a/b"]',
    ],
    [
      'an empty queue',
      { tools: [], taskQueue: '' },
      '✖ Too small: expected string to have >=1 characters\n  → at taskQueue',
    ],
  ])('refuses %s and says where it is', (_what, config, problem) => {
    expect(messageOf(config)).toBe(`ptc.config.ts is not a valid configuration:\n${problem}`)
  })

  it.each([
    [
      { tools: [], model: { name: 'opnai/gpt' } },
      'model.name: there is no model provider "opnai". Did you mean "openai"?',
    ],
    [
      { tools: [], agents: [defineAgent({ name: 'a', instructions: 'b', model: 'local/m' })] },
      'model of agent a: there is no model provider "local"',
    ],
  ])('refuses the model of an unknown provider: %#', (config, message) => {
    expect(messageOf(config)).toBe(message)
  })

  it('reports all problems of a configuration in one error', () => {
    const message = messageOf({ tools: 7, taskQueue: 7 })
    expect(message).toContain('→ at tools')
    expect(message).toContain('→ at taskQueue')
  })

  it.each([[{ name: 'ping', run: () => 1 }], [null], ['ping']])(
    'rejects a tool that is not a result of defineTool: %j',
    (tool) => {
      expect(messageOf({ tools: [ping, tool] })).toBe('tools[1] is not a tool')
    },
  )

  it('rejects two tools with the same name', () => {
    expect(() => parseConfig({ tools: [ping, ping] }, 'x')).toThrowError(
      expect.objectContaining({ code: 'TOOL_DUPLICATE', message: 'two tools are named ping' }),
    )
  })
})
