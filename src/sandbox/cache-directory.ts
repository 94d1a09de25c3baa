import { homedir } from 'node:os'
import { join } from 'node:path'

/** Environment variables; a parameter so that a caller can look elsewhere than in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Where this user's programs keep what can be had again. */
export function cacheDirectory(environment: Environment, platform: NodeJS.Platform = process.platform): string {
  return join(cacheRoot(environment, platform), 'durable-ptc')
}

function cacheRoot(environment: Environment, platform: NodeJS.Platform): string {
  const xdg = environment['XDG_CACHE_HOME']
  if (xdg !== undefined && xdg !== '') return xdg
  const home = environment['HOME'] ?? homedir()
  if (platform === 'darwin') return join(home, 'Library', 'Caches')
  if (platform === 'win32') return environment['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local')
  return join(home, '.cache')
}
