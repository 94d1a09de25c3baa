import { execFile, spawn } from 'node:child_process'
import { access } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Dockerode from 'dockerode'
import type { BenchContext } from './benchmark.js'

const run = promisify(execFile)
const peers = fileURLToPath(new URL('../peers/', import.meta.url))
const version = '0.3.46'
const image = 'durable-ptc-bench-llm-sandbox'

/** llm-sandbox (PyPI) in its own process. Each command returns its milliseconds there. */
export interface LlmSandbox {
  readonly version: string
  command(name: 'open' | 'run' | 'close'): Promise<number>
}

/** Installs llm-sandbox into the cache and starts it, with an image based on ours. */
export async function startLlmSandbox(ourImage: string, { progress, defer }: BenchContext): Promise<LlmSandbox> {
  const python = await ensureInstalled(progress)
  await buildImage(ourImage)
  const child = spawn(python, [join(peers, 'llm_sandbox_driver.py'), image], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  defer(() => child.kill())
  return {
    version,
    async command(name) {
      child.stdin.write(`${name}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error(`llm-sandbox ended during the command ${name}; see above`)
      return Number(value)
    },
  }
}

/** Returns a Python with llm-sandbox installed. */
async function ensureInstalled(progress: (line: string) => void): Promise<string> {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  const environment = join(cache, 'durable-ptc', `llm-sandbox-${version}`)
  const python = join(environment, 'bin/python')
  const done = await access(join(environment, 'installed')).then(
    () => true,
    () => false,
  )
  if (done) return python
  progress(`installing llm-sandbox ${version} into ${environment}`)
  await run('python3', ['-m', 'venv', environment])
  await run(python, ['-m', 'pip', 'install', '--quiet', `llm-sandbox[docker]==${version}`])
  await run('touch', [join(environment, 'installed')])
  return python
}

async function buildImage(base: string): Promise<void> {
  const docker = new Dockerode()
  const stream = await docker.buildImage(
    { context: peers, src: ['Dockerfile'] },
    { t: image, buildargs: { BASE: base }, networkmode: 'none' },
  )
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(stream, (error, steps: readonly { readonly error?: string }[]) => {
      const problem = error?.message ?? steps.find((step) => step.error !== undefined)?.error
      if (problem === undefined) resolve()
      else reject(new Error(`the image for llm-sandbox could not be built: ${problem}`))
    })
  })
}
