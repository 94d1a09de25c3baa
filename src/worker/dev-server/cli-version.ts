import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** The Temporal CLI that is downloaded or built when the machine has none. Its server is 1.31.2. */
export const cliVersion = '1.8.2'

/** Older servers lack what the engine uses (update-with-start, user metadata, activity pause). */
export const oldestServer = '1.29.0'

const run = promisify(execFile)

/**
 * Runs `<path> --version` and checks that the server inside is new enough.
 *
 * @returns the server's version
 * @throws Error whose message says what is wrong with this binary
 */
export async function checkBinary(path: string, signal: AbortSignal): Promise<string> {
  const { stdout } = await run(path, ['--version'], { signal, timeout: 10_000, windowsHide: true })
  const version = serverVersionIn(stdout)
  if (version === undefined) throw new Error(`${path} does not say which server it has: ${stdout.trim()}`)
  if (!isAtLeast(version, oldestServer)) {
    throw new Error(`${path} has Temporal server ${version}; ${oldestServer} or newer is needed`)
  }
  return version
}

/** `temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)` gives `1.31.2`. */
export function serverVersionIn(text: string): string | undefined {
  return /\bServer v?(\d+\.\d+\.\d+)/i.exec(text)?.[1]
}

/** Compares dotted numbers; a missing place counts as 0. */
export function isAtLeast(version: string, wanted: string): boolean {
  const have = version.split('.').map(Number)
  for (const [place, number] of wanted.split('.').map(Number).entries()) {
    const mine = have[place] ?? 0
    if (mine !== number) return mine > number
  }
  return true
}
