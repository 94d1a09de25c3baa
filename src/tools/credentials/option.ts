import { resolve } from 'node:path'
import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { didYouMean } from '../../common/text/unknown-keys.js'
import { type CredentialFunction, credentialNamePattern, type CredentialSource } from './credential-source.js'
import { Credentials } from './credentials.js'
import type { ToolRegistry } from '../registry.js'

const text = z.string().min(1)

const source = z.union(
  [
    z.strictObject({ environment: text }),
    z.strictObject({ file: text }),
    z.strictObject({ command: z.tuple([text], z.string()) }),
    z.custom<CredentialFunction>((value) => typeof value === 'function'),
  ],
  'must be { environment }, { file }, { command: [program, …] } or a function',
)

export const credentialsOption = z.record(z.string().regex(credentialNamePattern), source)

/** @param folder folder of the configuration, the base of relative paths */
export function createCredentials(option: z.output<typeof credentialsOption>, folder: string): Credentials {
  const resolved = Object.entries(option).map(([name, each]) => [name, resolvePath(each, folder)] as const)
  return new Credentials(Object.fromEntries(resolved))
}

/** @throws PtcError CONFIG_INVALID when a tool declares a credential that has no source */
export function checkCredentialNames(registry: ToolRegistry, names: readonly string[]): void {
  for (const tool of registry.names) {
    const missing = registry.get(tool)?.credentials.find((name) => !names.includes(name))
    if (missing === undefined) continue
    throw new PtcError(
      'CONFIG_INVALID',
      `tool ${tool} needs credential ${missing}, and the configuration has no source for it${didYouMean(missing, names)}`,
      { hint: `Add it to credentials: { ${missing}: { environment: 'VARIABLE' } }.` },
    )
  }
}

function resolvePath(source: CredentialSource, folder: string): CredentialSource {
  return typeof source === 'object' && 'file' in source ? { file: resolve(folder, source.file) } : source
}
