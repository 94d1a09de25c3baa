import { fileURLToPath } from 'node:url'
import { createDockerBackend } from '../../../dist/sandbox/docker/index.js'
import { compareTests } from '../compare.js'
import { ensureTestImage } from '../test-image.js'
import { NodeTests } from './run-test.js'

/** Debian's source package of Node 20 has Node's own tests. */
const install = `
set -e
echo 'deb-src http://deb.debian.org/debian trixie main' >/etc/apt/sources.list.d/node-tests.list
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends xz-utils
cd /tmp
apt-get source --download-only --tar-only nodejs/trixie
mkdir -p /opt/node-tests
tar xf nodejs_*.orig.tar.xz -C /opt/node-tests --strip-components=1 --wildcards '*/test/parallel' '*/test/common' '*/test/fixtures'
chmod -R a=rX /opt/node-tests
rm -rf /tmp/* /var/lib/apt/lists/* /etc/apt/sources.list.d/node-tests.list`

/** What a program in a sandbox uses: no options, networks, snapshots, clusters or debuggers. */
const modules = `
  assert async-local-storage blob btoa console datetime error event eventemitter events eventtarget file intl microtask
  next os path performance promise querystring queue readable readline stringbytes timers url util webstream zlib`

// Runs Node's own tests plain and under the runner, in the same image and with the same limits.
// Arguments: modules, such as timers (test-timers-*.js); default: all that a sandbox can run.
const image = await ensureTestImage('durable-ptc-node-tests', install)
const backend = createDockerBackend({ image })
const tests = new NodeTests(image, backend)
const named = process.argv.slice(2)
const isAsExpected = await compareTests({
  plain: 'Node',
  expectedFile: fileURLToPath(new URL('expected-differences.txt', import.meta.url)),
  modules: named.length > 0 ? named : modules.trim().split(/\s+/),
  runPlain: (module) => tests.runPlain(module),
  runInRunner: () => tests.runInRunner(),
})
await backend.close()
process.exit(isAsExpected ? 0 : 1)
