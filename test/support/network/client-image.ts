import { execFileSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { docker, ensureTestImage } from '../../comparison/test-image.js'

/** Certificates of this machine, for networks with a proxy of their own. */
const certificates = '/etc/ssl/certs/ca-certificates.crt'

/** The folder of a certificate authority in the image. Its certificate is among those of the system. */
const authorityFolder = '/opt/test-ca'

const install = `
set -e
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends curl git openssl python3-pip
if [ -e /mnt/ca.pem ]; then export PIP_CERT=/mnt/ca.pem; fi
python3 -m pip install --break-system-packages --no-cache-dir --no-input aiohttp httpx[http2] requests websockets
mkdir -p /usr/local/lib/node_modules ${authorityFolder}
cp -r /mnt/npm /usr/local/lib/node_modules/
cd ${authorityFolder}
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.pem -days 3650 -subj '/CN=test CA'
cp ca.pem /usr/local/share/ca-certificates/test-ca.crt
update-ca-certificates
rm -rf /var/lib/apt/lists/*`

/** The command of npm in the image. */
export const npm = 'node /usr/local/lib/node_modules/npm/bin/npm-cli.js'

/** A sandbox image with clients of HTTP, and a certificate authority that its system trusts. Built once for each runner. */
export async function ensureClientImage() {
  const npmFolder = dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())))
  const ofMachine = existsSync(certificates) ? [`${realpathSync(certificates)}:/mnt/ca.pem:ro`] : []
  const image = await ensureTestImage('durable-ptc-client-tests', install, [`${npmFolder}:/mnt/npm:ro`, ...ofMachine])
  return { image, authority: { certificate: await readIn(image, 'ca.pem'), key: await readIn(image, 'ca.key') } }
}

async function readIn(image: string, file: string): Promise<string> {
  const Entrypoint = ['/bin/cat', `${authorityFolder}/${file}`]
  const container = await docker.createContainer({ Image: image, User: '0', Entrypoint, Cmd: [], Tty: true })
  try {
    const output = await container.attach({ stream: true, stdout: true })
    const pieces: Buffer[] = []
    output.on('data', (piece: Buffer) => pieces.push(piece))
    const ended = new Promise((resolve) => output.once('end', resolve))
    await container.start()
    await ended
    return Buffer.concat(pieces).toString().replaceAll('\r\n', '\n')
  } finally {
    await container.remove({ force: true })
  }
}
