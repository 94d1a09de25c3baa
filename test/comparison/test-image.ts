import Dockerode from 'dockerode'
import { createDockerBackend } from '../../dist/sandbox/docker/index.js'

export const docker = new Dockerode()

/**
 * The sandbox image of this runner with tests of a language; built once for each runner.
 *
 * @param install a script for sh, which root runs
 * @param binds files of this machine that the script can read, as for `docker run --volume`
 */
export async function ensureTestImage(repo: string, install: string, binds: readonly string[] = []): Promise<string> {
  const backend = createDockerBackend()
  const { image } = await backend.ensureImage()
  await backend.close()
  const [, tag = 'latest'] = image.split(':')
  const name = `${repo}:${tag}`
  const isThere = await docker
    .getImage(name)
    .inspect()
    .then(
      () => true,
      () => false,
    )
  if (isThere) return name
  const network = process.env['PTC_BUILD_NETWORK']
  const container = await docker.createContainer({
    Image: image,
    User: '0',
    Entrypoint: ['/bin/sh', '-c', install],
    Cmd: [],
    Tty: true,
    HostConfig: { Binds: [...binds], ...(network !== undefined && { NetworkMode: network }) },
  })
  try {
    const output = await container.attach({ stream: true, stdout: true, stderr: true })
    let log = ''
    output.on('data', (piece: Buffer) => (log = (log + piece.toString()).slice(-4_000)))
    await container.start()
    const { StatusCode: code } = (await container.wait()) as { StatusCode: number }
    if (code !== 0) throw new Error(`the tests could not be installed (exit code ${code}):\n${log}`)
    await container.commit({ repo, tag })
  } finally {
    await container.remove({ force: true })
  }
  return name
}
