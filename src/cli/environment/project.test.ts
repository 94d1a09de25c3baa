import { expect, it } from 'vitest'
import { parseConfig } from '../../config/parse-config.js'
import { fileStream } from '../../stream/index.js'
import { type LoadedConfig, keysOf, type Project, withStream } from './project.js'

const encryption = { currentKeyId: 'k1', key: () => Buffer.alloc(32) }

function load(config: object): LoadedConfig {
  return { ...parseConfig({ tools: [], ...config }, 'test'), path: 'ptc.config.ts' }
}

it('a project has the encryption keys of its configuration', async () => {
  expect(await keysOf({ config: load({ encryption }) })?.current()).toMatchObject({ id: 'k1' })
  expect(keysOf({ config: load({}), currentKeyId: 'k1' })).toBe(undefined)
})

it('a command without the configuration refuses to encrypt and to decrypt', async () => {
  await expect(keysOf({ config: undefined, currentKeyId: 'k1' })?.current()).rejects.toMatchObject({
    code: 'ENCRYPTION_KEY_UNAVAILABLE',
    message: expect.stringContaining('--config'),
  })
  expect(keysOf({ config: undefined })).toBe(undefined)
})

it('a project has a live stream with its dev server, and with other servers only when it is configured', () => {
  const project = (config: LoadedConfig | undefined): Project => ({
    stateDirectory: '/nonexistent/.ptc',
    config,
    taskQueue: 'test',
    store: { kind: 'local', directory: '/nonexistent/.ptc/values' },
  })
  const stream = fileStream({ folder: '/nonexistent/stream' })
  for (const origin of ['running', 'started'] as const) {
    expect(withStream(project(load({})), { origin }).config?.stream).toBeDefined()
    expect(withStream(project(load({ stream })), { origin }).config?.stream).toBe(stream)
    expect(withStream(project(undefined), { origin }).config).toBe(undefined)
  }
  expect(withStream(project(load({})), { origin: 'configured' }).config?.stream).toBe(undefined)
  expect(withStream(project(load({ stream })), { origin: 'configured' }).config?.stream).toBe(stream)
})
