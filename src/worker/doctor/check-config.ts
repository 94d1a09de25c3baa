import { messageOf, PtcError } from '../../common/errors.js'
import { plural } from '../../common/text.js'
import { loadConfig } from '../config/load-config.js'
import { type Check, failed, ok, warning } from './check.js'

export type LoadedConfig = Awaited<ReturnType<typeof loadConfig>>

/** The configuration, if it can be had; others are checked by what it says. */
export async function checkConfig(
  file: string | undefined,
): Promise<{ check: Check; config: LoadedConfig | undefined }> {
  try {
    const config = await loadConfig(file)
    const { names } = config.registry
    const tools = names.length === 0 ? 'no tools' : `${plural(names.length, 'tool')} (${names.join(', ')})`
    return { config, check: ok('Configuration', `${config.path}: ${tools}, model ${config.plan.model.name}`) }
  } catch (thrown) {
    const isAbsent = file === undefined && PtcError.isInstance(thrown) && thrown.code === 'CONFIG_NOT_FOUND'
    const check = isAbsent
      ? warning('Configuration', messageOf(thrown), thrown.hint ?? '')
      : failed('Configuration', thrown)
    return { config: undefined, check }
  }
}
