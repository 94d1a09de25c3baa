import { fileURLToPath } from 'node:url'
import { createDockerBackend } from '../../../dist/sandbox/docker/index.js'
import { compareTests } from '../compare.js'
import { ensureTestImage } from '../test-image.js'
import { allModules, BashTests } from './run-test.js'

/**
 * Debian's source package of bash has bash's own tests. They use small programs in C, which are compiled here, and `date`
 * by the clock of the machine.
 */
const install = `
set -e
. /etc/os-release
echo "deb-src http://deb.debian.org/debian $VERSION_CODENAME main" >/etc/apt/sources.list.d/bash-tests.list
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends tcc libc6-dev
cd /tmp
apt-get source --download-only --tar-only bash/$VERSION_CODENAME
mkdir -p /opt/bash-tests
tar xf bash_*.orig.tar.* --strip-components=1 --wildcards '*/tests' '*.h' '*/support/*.c'
for name in recho zecho printenv xcase; do tcc -DHAVE_STRING_H -DHAVE_STDLIB_H -I. -Iinclude -o tests/$name support/$name.c; done
ln -s /bin/date tests/date
cp -r tests /opt/bash-tests/
chmod -R a=rX,u+w /opt/bash-tests
rm -rf /tmp/* /var/lib/apt/lists/* /etc/apt/sources.list.d/bash-tests.list`

// Runs bash's own tests plain and as cells, in the same image and with the same limits.
// Arguments: modules, such as alias (alias.tests); default: all.
const image = await ensureTestImage('durable-ptc-bash-tests', install)
const backend = createDockerBackend({ image })
const tests = new BashTests(image, backend)
const named = process.argv.slice(2)
const isAsExpected = await compareTests({
  plain: 'bash',
  expectedFile: fileURLToPath(new URL('expected-differences.txt', import.meta.url)),
  modules: named.length > 0 ? named : await allModules(image),
  runPlain: (module) => tests.runPlain(module),
  runInRunner: () => tests.runInRunner(),
})
await backend.close()
process.exit(isAsExpected ? 0 : 1)
