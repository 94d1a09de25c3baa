/*
 * Installs the packages of packages.json during the build of an image: `node install.js npm`, `node install.js apt pip`.
 * No shell is involved: each name is one argument of a program, behind `--`.
 */
'use strict'
const { spawnSync } = require('node:child_process')
const { existsSync, mkdirSync, readFileSync, renameSync, rmSync } = require('node:fs')
const path = require('node:path')

const certificates = path.join(__dirname, 'ca.pem')
const environment = {
  ...process.env,
  DEBIAN_FRONTEND: 'noninteractive',
  ...(existsSync(certificates) && { PIP_CERT: certificates, NODE_EXTRA_CA_CERTS: certificates }),
}

function run(program, ...args) {
  const { status, error } = spawnSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'], env: environment })
  if (error) throw error
  if (status !== 0) process.exit(1)
}

function read(program, ...args) {
  return spawnSync(program, args, { encoding: 'utf8', maxBuffer: 64 << 20 }).stdout
}

const install = ['install', '-y', '--no-install-recommends', '--']

const installers = {
  npm(names) {
    if (names.length === 0) return mkdirSync('/node_modules', { recursive: true })
    const npm = path.join(path.dirname(path.dirname(process.execPath)), 'lib/node_modules/npm/bin/npm-cli.js')
    if (!existsSync(npm)) {
      console.error(`error: the image with Node.js has no npm (${npm})`)
      process.exit(1)
    }
    // npm does not install into the root.
    const options = ['--prefix', '/tmp/npm', '--no-audit', '--no-fund', '--no-package-lock', '--no-update-notifier']
    run(process.execPath, npm, 'install', ...options, '--', ...names)
    return renameSync('/tmp/npm/node_modules', '/node_modules')
  },
  apt(names) {
    if (names.length > 0) run('apt-get', ...install, ...names)
  },
  // Debian keeps pip from its own folder; packages of pip go to /usr/local. pip itself is removed again.
  pip(names) {
    if (names.length === 0) return
    const before = new Set(installedPackages())
    run('apt-get', ...install, 'python3-pip')
    const options = ['--break-system-packages', '--no-cache-dir', '--root-user-action=ignore', '--no-input']
    run('/usr/bin/python3', '-m', 'pip', 'install', ...options, '--', ...names)
    const added = installedPackages().filter((name) => !before.has(name))
    if (added.length > 0) run('apt-get', 'purge', '-y', '--', ...added)
  },
}

function installedPackages() {
  return read('dpkg-query', '-W', '-f', '${Package}\n').split('\n').filter(Boolean)
}

const kinds = process.argv.slice(2)
const packages = JSON.parse(readFileSync(path.join(__dirname, 'packages.json'), 'utf8'))
const needsApt = kinds.some((kind) => kind !== 'npm' && packages[kind].length > 0)
if (needsApt) run('apt-get', 'update')
for (const kind of kinds) installers[kind](packages[kind])
if (!kinds.includes('npm')) {
  for (const each of ['/var/lib/apt/lists', '/var/cache/apt', '/var/log/apt', __dirname])
    rmSync(each, { recursive: true, force: true })
  // No program may change its user.
  run('find', '/', '-xdev', '-type', 'f', '-perm', '/6000', '-exec', 'chmod', 'a-s', '{}', '+')
}
