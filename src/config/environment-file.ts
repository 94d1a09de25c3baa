import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { hasErrorCode } from '../common/system-error.js'
import { decodeText } from '../common/text/decode-text.js'
import { requireTrusted } from '../platform/trusted-path.js'

/**
 * Sets the variables of the file `.env` of this folder that are not already set. Leaves out variables of Temporal:
 * commands that only read do not load the configuration, and would use another server than the other commands.
 *
 * @throws PtcError CONFIG_INVALID when the file belongs to another user, or is not UTF-8
 */
export async function loadEnvironmentFile(
  folder: string,
  environment: Record<string, string | undefined> = process.env,
): Promise<void> {
  const path = join(folder, '.env')
  try {
    const bytes = await readFile(path)
    requireTrusted(path, '.env', 'Copy it to a file of your own, or delete it.')
    const variables = Object.entries(parseEnv(decodeText(bytes, path, 'CONFIG_INVALID')))
    for (const [name, value] of variables) if (!name.startsWith('TEMPORAL_')) environment[name] ??= value
  } catch (thrown) {
    if (!hasErrorCode(thrown, 'ENOENT') && !hasErrorCode(thrown, 'EISDIR')) throw thrown
  }
}
