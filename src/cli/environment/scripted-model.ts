import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { messageOf, PtcError } from '../../common/errors.js'
import { type Role, roles as allRoles, scriptedModelName } from '../../common/names.js'
import { decodeText } from '../../common/text/decode-text.js'
import { hasErrorCode } from '../../common/system-error.js'
import type { Script } from '../../testing/scripted-messages-api/script/script.js'
import type { ScriptedMessagesApi } from '../../testing/scripted-messages-api/server.js'
import { scriptFileName } from '../init/project-files.js'
import { defaultProvider } from '../../models/facts/model-name.js'
import { isModelProvider } from '../../models/options/providers.js'
import { hasCredentials } from '../../worker/index.js'
import { requireTrusted } from '../../platform/trusted-path.js'
import type { LoadedConfig } from './project.js'

export const scriptedModelNotice = `no API key was found, so a scripted model replies (${scriptFileName})`

/**
 * Starts a local Messages API with the script of the project, when no API key is found and the project has a script.
 * Only for a worker that decides on the model of new runs and calls it: in a fleet, a worker without the role `model`
 * needs no key. A model of another provider, or with a key of its own, is never replaced.
 *
 * @throws PtcError CONFIG_INVALID when the script is wrong, or belongs to another user
 */
export async function startScriptedModel(
  config: Pick<LoadedConfig, 'path' | 'runConfig' | 'providers'>,
  roles: readonly Role[] = allRoles,
): Promise<ScriptedMessagesApi | undefined> {
  if (!roles.includes('workflow') || !roles.includes('model')) return undefined
  if (!mayLackKey(config)) return undefined
  const path = join(dirname(config.path), scriptFileName)
  const text = await readIfPresent(path)
  if (text === undefined || (await hasCredentials())) return undefined
  requireTrusted(path, scriptFileName, `Delete ${scriptFileName}, or copy it to a file that you own.`)
  // Loaded only here: a worker without a script starts sooner.
  const { startScriptedMessagesApi } = await import('../../testing/scripted-messages-api/server.js')
  return startScriptedMessagesApi({ script: parseJson(text), models: [scriptedModelName] })
}

/** Whether the model needs the key that Anthropic's SDK reads. */
function mayLackKey({ runConfig, providers }: Pick<LoadedConfig, 'runConfig' | 'providers'>): boolean {
  const option = providers[defaultProvider]
  if (runConfig.model.provider !== defaultProvider || option === undefined || isModelProvider(option)) return false
  return option.kind === 'anthropic' && option.apiKey === undefined
}

/** The configuration for runs with the scripted model. */
export function withScriptedModelName<Config extends Pick<LoadedConfig, 'runConfig'>>(config: Config): Config {
  const { runConfig } = config
  const { fallbacks: _, ...model } = runConfig.model
  return { ...config, runConfig: { ...runConfig, model: { ...model, name: scriptedModelName } } }
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return decodeText(await readFile(path), path, 'CONFIG_INVALID')
  } catch (thrown) {
    if (hasErrorCode(thrown, 'ENOENT')) return undefined
    throw thrown
  }
}

/** The server checks the shape of the script. */
function parseJson(text: string): Script {
  try {
    return JSON.parse(text) as Script
  } catch (cause) {
    throw new PtcError('CONFIG_INVALID', `${scriptFileName} is not JSON: ${messageOf(cause)}`, {
      hint: `Correct it, or delete it and set ANTHROPIC_API_KEY.`,
      cause,
    })
  }
}
