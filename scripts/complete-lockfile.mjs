// Adds missing platform packages (`@swc/core-darwin-arm64` …) to package-lock.json. Run it after `npm install` behind a
// registry mirror without the packages of other platforms: `npm ci` rejects the lock file that npm writes there.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { progress, root } from './setup.mjs'

const file = join(root, 'package-lock.json')

/** Parts of package names that differ from npm's values of os, cpu and libc. */
const spellings = { windows: 'win32', ppc64le: 'ppc64', gnu: 'glibc', gnueabihf: 'glibc', musleabihf: 'musl' }
const known = {
  os: ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'],
  cpu: ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'],
  libc: ['glibc', 'musl'],
}

const lock = JSON.parse(readFileSync(file, 'utf8'))
const added = Object.values(lock.packages).flatMap(platformPackagesOf)
if (added.length > 0) {
  const all = [...Object.entries(lock.packages), ...added].sort(([a], [b]) => a.localeCompare(b, 'en'))
  writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(all) }, null, 2)}\n`)
}
progress(`package-lock.json: ${added.length} platform packages added`)

/** Returns the missing optional dependencies of a package with an exact version. */
function platformPackagesOf({ optionalDependencies = {}, dev }) {
  return Object.entries(optionalDependencies)
    .filter(([name, version]) => /^\d/.test(version) && lock.packages[`node_modules/${name}`] === undefined)
    .map(([name, version]) => [
      `node_modules/${name}`,
      // Without a digest: npm adds it when it can download the package.
      { version, ...platformOf(name), ...(dev ? { dev } : {}), optional: true },
    ])
}

function platformOf(name) {
  const words = name.split(/[/-]/).map((word) => spellings[word] ?? word)
  const fields = Object.entries(known).map(([field, values]) => [field, words.filter((word) => values.includes(word))])
  return Object.fromEntries(fields.filter(([, values]) => values.length > 0))
}
