import { expect, it } from 'vitest'
import { parseConfig } from '../../worker/config/parse-config.js'
import { type LoadedConfig, keysOf } from './project.js'

const encryption = { currentKeyId: 'k1', key: () => Buffer.alloc(32) }

function load(config: object): LoadedConfig {
  return { ...parseConfig({ tools: [], ...config }, 'test'), path: 'ptc.config.ts' }
}

it('takes the encryption keys of the configuration', async () => {
  expect(await keysOf({ config: load({ encryption }) })?.current()).toMatchObject({ id: 'k1' })
  expect(keysOf({ config: load({}), currentKeyId: 'k1' })).toBe(undefined)
})

it('refuses to encrypt and decrypt while the configuration with the keys is not loaded', async () => {
  await expect(keysOf({ config: undefined, currentKeyId: 'k1' })?.current()).rejects.toMatchObject({
    code: 'ENCRYPTION_KEY_UNAVAILABLE',
    message: expect.stringContaining('--config'),
  })
  expect(keysOf({ config: undefined })).toBe(undefined)
})
