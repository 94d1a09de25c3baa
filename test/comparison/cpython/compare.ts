import { fileURLToPath } from 'node:url'
import { createDockerBackend } from '../../../dist/sandbox/docker/index.js'
import { compareTests } from '../compare.js'
import { ensureTestImage } from '../test-image.js'
import { allModules, runInCell, runPlain } from './run-module.js'

const install = `
set -e
package=libpython$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')-testsuite
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $package
rm -rf /var/lib/apt/lists/*`

// Runs CPython's own tests plain and under the runner, in the same image and with the same limits.
// Arguments: names of modules, such as test_json or test_asyncio.test_locks; default: all.
const image = await ensureTestImage('durable-ptc-cpython-tests', install)
const backend = createDockerBackend({ image })
const named = process.argv.slice(2)
const isAsExpected = await compareTests({
  plain: 'Python',
  expectedFile: fileURLToPath(new URL('expected-differences.txt', import.meta.url)),
  modules: named.length > 0 ? named : await allModules(image),
  runPlain: (module) => runPlain(image, module),
  runInRunner: (module) => runInCell(backend, module),
})
await backend.close()
process.exit(isAsExpected ? 0 : 1)
