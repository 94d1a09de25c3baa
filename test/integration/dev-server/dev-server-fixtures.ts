import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { cachedCliPath } from '../../../src/cli/dev-server/temporal-cli.js'
import { probeTcp } from '../../../src/cli/dev-server/probe.js'
import { type DevServerOptions, type TemporalServer, startDevServer } from '../../../src/cli/dev-server/index.js'

/** A folder that is gone after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'dev-server-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }))
  return folder
}

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

/** An environment whose cached CLI is this shell script; `--version` is answered as a real one does. */
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
