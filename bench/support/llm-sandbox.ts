import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Dockerode from 'dockerode'
import type { BenchContext } from './benchmark.js'
import { ensureInstalled, type Peer, peers, startDriver } from './peer.js'

const run = promisify(execFile)
const name = 'llm-sandbox'
const version = '0.3.46'
const image = 'durable-ptc-bench-llm-sandbox'

/** Installs llm-sandbox (PyPI) into the cache and starts it, with an image based on this package's image. */
export async function startLlmSandbox(
  ourImage: string,
  context: BenchContext,
): Promise<Peer<'open' | 'run' | 'close'>> {
  const environment = await ensureInstalled(`${name}-${version}`, context, async (folder) => {
    await run('python3', ['-m', 'venv', folder])
    const options = ['-m', 'pip', 'install', '--quiet', `llm-sandbox[docker]==${version}`]
    await run(join(folder, 'bin/python'), options)
  })
  await buildImage(ourImage)
  const driver = join(peers, 'llm_sandbox_driver.py')
  return startDriver({ name, version }, [join(environment, 'bin/python'), driver, image], context)
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
