import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { onTestFinished } from 'vitest'
import { cachedCliPath } from '../../../src/dev-server/temporal-cli.js'
import { probeTcp } from '../../../src/dev-server/probe.js'
import { type DevServerOptions, type TemporalServer, startDevServer } from '../../../src/dev-server/index.js'
import { temporaryFolder } from '../folders.js'

/** Starts a server that is closed after the test. */
export async function startTestServer(options: Partial<DevServerOptions> = {}): Promise<TemporalServer> {
  const server = await startDevServer({ onProgress: () => {}, signal: AbortSignal.timeout(150_000), ...options })
  onTestFinished(() => server.close())
  return server
}

export async function isListening(server: Pick<TemporalServer, 'address'>): Promise<boolean> {
  return probeTcp(server.address).then(
    () => true,
    () => false,
  )
}

/** An environment whose cached CLI is this shell script; `--version` prints what the real CLI prints. */
export async function environmentWithCli(script: string): Promise<Record<string, string>> {
  const environment = { XDG_CACHE_HOME: await temporaryFolder(), PATH: process.env['PATH'] ?? '' }
  const path = cachedCliPath(environment)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(
    path,
    `#!/bin/sh\nif [ "$1" = --version ]; then echo "temporal version 1 (Server 1.31.2)"; exit; fi\n${script}\n`,
  )
  await chmod(path, 0o755)
  return environment
}
