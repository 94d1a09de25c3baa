import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { keyIdPattern, type KeyMaterial, KeyRing } from './key-ring.js'

/** The keys that encrypt payloads and values (AES-256-GCM). */
export interface EncryptionOption {
  /**
   * The id of the key that encrypts. To rotate: give every process the new key, then change this id. Keep old keys
   * while runs and values exist that they encrypted.
   */
  readonly currentKeyId: string
  /**
   * Finds a key by its id: 32 bytes, or their base64. Returns undefined when the key does not exist. Called once for
   * each id, and again after a failure.
   */
  readonly key: (id: string) => KeyMaterial | undefined | Promise<KeyMaterial | undefined>
}

export const encryptionOption = z.strictObject({
  currentKeyId: z.string().regex(keyIdPattern, 'must be up to 64 of A-Z, a-z, 0-9, dot, hyphen and underscore'),
  key: z.custom<EncryptionOption['key']>((value) => typeof value === 'function', 'must be a function'),
})

/** @throws PtcError CONFIG_INVALID */
export function parseEncryption(option: EncryptionOption | undefined): KeyRing | undefined {
  if (option === undefined) return undefined
  const parsed = encryptionOption.safeParse(option)
  if (parsed.success) return new KeyRing(parsed.data)
  throw new PtcError('CONFIG_INVALID', `invalid encryption:\n${z.prettifyError(parsed.error)}`, {
    hint: 'docs/guides/privacy.md describes it.',
  })
}
