// Adds to package-lock.json the platform packages (`@swc/core-darwin-arm64` …) that npm left out of it.
// Behind a registry mirror that lacks the packages of other platforms npm writes a lock file that `npm ci` then refuses
// on every machine. Run it after `npm install` behind such a mirror; where nothing is missing it changes nothing.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { progress, root } from './setup.mjs'

const file = join(root, 'package-lock.json')

/** How package names spell what npm calls os, cpu and libc, where the spelling differs. */
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

/** What is missing of one package's optional dependencies with an exact version. */
function platformPackagesOf({ optionalDependencies = {}, dev }) {
  return Object.entries(optionalDependencies)
    .filter(([name, version]) => /^\d/.test(version) && lock.packages[`node_modules/${name}`] === undefined)
    .map(([name, version]) => [
      `node_modules/${name}`,
      // No digest: only the package itself gives it, and npm fills it in where it can reach it.
      { version, ...platformOf(name), ...(dev ? { dev } : {}), optional: true },
    ])
}

function platformOf(name) {
  const words = name.split(/[/-]/).map((word) => spellings[word] ?? word)
  const fields = Object.entries(known).map(([field, values]) => [field, words.filter((word) => values.includes(word))])
  return Object.fromEntries(fields.filter(([, values]) => values.length > 0))
}
