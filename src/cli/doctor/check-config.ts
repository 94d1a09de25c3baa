import { messageOf, PtcError } from '../../common/errors.js'
import { pluralize } from '../../common/text/text.js'
import { loadConfig } from '../../config/load-config.js'
import type { LoadedConfig } from '../environment/project.js'
import { type Check, failed, ok, warning } from './check.js'

/** Loads the configuration. Other checks use it. */
export async function checkConfig(
  file: string | undefined,
): Promise<{ check: Check; config: LoadedConfig | undefined }> {
  try {
    const config = await loadConfig(file)
    const { names } = config.tools.known
    const tools = names.length === 0 ? 'no tools' : `${pluralize(names.length, 'tool')} (${names.join(', ')})`
    return { config, check: ok('Configuration', `${config.path}: ${tools}, model ${config.runConfig.model.name}`) }
  } catch (thrown) {
    const isAbsent = file === undefined && PtcError.isInstance(thrown) && thrown.code === 'CONFIG_NOT_FOUND'
    const check = isAbsent
      ? warning('Configuration', messageOf(thrown), thrown.hint ?? '')
      : failed('Configuration', thrown)
    return { config: undefined, check: { ...check, message: listProblems(check.message) } }
  }
}

/** One line for each problem: zod writes a mark before it, and the place of the value in a line of its own. */
export function listProblems(message: string): string {
  return message
    .replaceAll(/\n\s*→ at (\S+)/g, ' (at $1)')
    .split('\n')
    .map((line) => line.trim().replace(/^✖ /, ''))
    .filter((line) => line !== '')
    .join('\n')
}
