import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { cacheDirectory } from '../../src/sandbox/cache-directory.js'
import { findBinary } from '../../src/worker/dev-server/find-binary.js'
import { startDevServer } from '../../src/worker/dev-server/index.js'

/** The address of a dev server that answers so many requests a second and refuses the rest; it ends with the test. */
export async function startBusyServer(requestsPerSecond: number): Promise<string> {
  const asked = { onProgress: () => undefined, signal: AbortSignal.timeout(150_000) }
  const binary = await findBinary({ ...asked, environment: process.env })
  const folder = await mkdtemp(join(tmpdir(), 'ptc-busy-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const limits = ['namespaceRPS', 'namespaceRPS.visibility', 'rps'].map(
    (name) => `--dynamic-config-value=frontend.${name}=${requestsPerSecond}`,
  )
  // Where this project keeps the CLI: that is where it looks first.
  const environment = { ...process.env, XDG_CACHE_HOME: folder }
  const wrapper = join(cacheDirectory(environment), basename(binary))
  await mkdir(dirname(wrapper), { recursive: true })
  const script = `#!/bin/sh\n[ "$1" = server ] && set -- "$@" ${limits.join(' ')}\nexec '${binary}' "$@"\n`
  await writeFile(wrapper, script, { mode: 0o755 })
  const server = await startDevServer({ ...asked, environment })
  onTestFinished(() => server.close())
  return server.address
}
