import { join } from 'node:path'
import { cacheDirectory, type Environment } from '../../sandbox/cache-directory.js'
import { cliVersion } from './cli-version.js'

/** Where our own copy of the Temporal CLI is, once there is one. */
export function cachedBinary(environment: Environment): string {
  return join(cacheDirectory(environment), `temporal-${cliVersion}${executableSuffix}`)
}

export const executableSuffix = process.platform === 'win32' ? '.exe' : ''
