import { homedir } from 'node:os'
import { join } from 'node:path'

/** Environment variables: `process.env`, or those of a test. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** The cache directory of durable-ptc, by the conventions of the operating system. */
export function cacheDirectory(
  environment: EnvironmentVariables,
  platform: NodeJS.Platform = process.platform,
): string {
  return join(cacheRoot(environment, platform), 'durable-ptc')
}

function cacheRoot(environment: EnvironmentVariables, platform: NodeJS.Platform): string {
  const xdg = environment['XDG_CACHE_HOME']
  if (xdg !== undefined && xdg !== '') return xdg
  const home = environment['HOME'] ?? homedir()
  if (platform === 'darwin') return join(home, 'Library', 'Caches')
  if (platform === 'win32') return environment['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local')
  return join(home, '.cache')
}
