import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { cachedCliPath, findTemporalCli } from '../../../src/dev-server/temporal-cli.js'
import { startDevServer } from '../../../src/dev-server/index.js'

/** Starts a dev server with a limit of requests per second, which ends with the test; returns its address. */
export async function startRateLimitedServer(requestsPerSecond: number): Promise<string> {
  const options = { onProgress: () => undefined, signal: AbortSignal.timeout(150_000) }
  const binary = await findTemporalCli({ ...options, environment: process.env })
  const folder = await mkdtemp(join(tmpdir(), 'ptc-busy-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const limits = ['namespaceRPS', 'namespaceRPS.visibility', 'rps'].map(
    (name) => `--dynamic-config-value=frontend.${name}=${requestsPerSecond}`,
  )
  // findTemporalCli prefers the cached copy.
  const environment = { ...process.env, XDG_CACHE_HOME: folder }
  const wrapper = cachedCliPath(environment)
  await mkdir(dirname(wrapper), { recursive: true })
  const script = `#!/bin/sh\n[ "$1" = server ] && set -- "$@" ${limits.join(' ')}\nexec '${binary}' "$@"\n`
  await writeFile(wrapper, script, { mode: 0o755 })
  const server = await startDevServer({ ...options, environment })
  onTestFinished(() => server.close())
  return server.address
}
