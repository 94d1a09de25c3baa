import Dockerode from 'dockerode'
import { createDockerBackend } from '../../dist/sandbox/docker/index.js'

export const docker = new Dockerode()

const install = `
set -e
package=libpython$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')-testsuite
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $package
rm -rf /var/lib/apt/lists/*`

/** The sandbox image of this runner with Debian's package of CPython's own tests; built once for each runner. */
export async function ensureTestImage(): Promise<string> {
  const backend = createDockerBackend()
  const { image } = await backend.ensureImage()
  await backend.close()
  const [, tag = 'latest'] = image.split(':')
  const repo = 'durable-ptc-cpython-tests'
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
    HostConfig: network === undefined ? {} : { NetworkMode: network },
  })
  try {
    const output = await container.attach({ stream: true, stdout: true, stderr: true })
    let log = ''
    output.on('data', (piece: Buffer) => (log = (log + piece.toString()).slice(-4_000)))
    await container.start()
    const { StatusCode: code } = (await container.wait()) as { StatusCode: number }
    if (code !== 0) throw new Error(`CPython's tests could not be installed (exit code ${code}):\n${log}`)
    await container.commit({ repo, tag })
  } finally {
    await container.remove({ force: true })
  }
  return name
}
