// First step of every entry script. Plain Node without dependencies, because it runs before `npm ci`.
import { spawnSync } from 'node:child_process'
import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Ends the process with one line and no stack trace. */
export function stop(message) {
  console.error(`durable-ptc: ${message}`)
  process.exit(1)
}

/** Prints a line about a slow step to stderr; stdout is for results. */
export function progress(line) {
  console.error(`› ${line}`)
}

/** Checks Node, and installs dependencies when node_modules differs from package-lock.json. */
export function setup() {
  checkNode()
  if (!dependenciesInstalled()) installDependencies()
}

function checkNode() {
  const wanted = readJson('package.json').engines.node.replace('>=', '')
  if (!isAtLeast(process.versions.node, wanted)) {
    stop(`Node ${wanted} or newer is needed, this is ${process.version}. Get it from https://nodejs.org/.`)
  }
}

export function isAtLeast(version, wanted) {
  const [have, want] = [version, wanted].map((text) => text.split('.').map(Number))
  for (const [index, required] of want.entries()) {
    const number = have[index] ?? 0
    if (number !== required) return number > required
  }
  return true
}

/**
 * Compares contents, not times: a checkout or `npm i` of another package touches files without changing them. npm
 * writes the hidden lock file last, so an interrupted installation counts as missing.
 */
function dependenciesInstalled() {
  const wanted = readJson('package-lock.json').packages
  let installed
  try {
    installed = readJson('node_modules/.package-lock.json').packages
  } catch {
    return false
  }
  // Optional packages for other platforms are missing. Those in package.json are needed here.
  const ours = new Set(Object.keys(wanted[''].optionalDependencies).map((name) => `node_modules/${name}`))
  const missing = Object.entries(wanted).some(
    ([path, entry]) => path !== '' && (!entry.optional || ours.has(path)) && installed[path]?.version !== entry.version,
  )
  return !missing && Object.entries(installed).every(([path, entry]) => wanted[path]?.version === entry.version)
}

function installDependencies() {
  // npm would empty the folder of the other checkout.
  if (lstatSync(join(root, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink()) {
    stop('node_modules is a link to a folder that does not match package-lock.json. Remove the link.')
  }
  progress('installing dependencies (npm ci)')
  const { status } = npm(['ci', '--include=dev', '--no-progress'])
  if (status !== 0) stop('npm ci failed; its own message above says why.')
}

function npm(args) {
  const options = { cwd: root, stdio: ['ignore', 2, 2] }
  const npmScript = process.env['npm_execpath']
  if (npmScript?.endsWith('.js')) return spawnSync(process.execPath, [npmScript, ...args], options)
  return spawnSync('npm', args, { ...options, shell: process.platform === 'win32' })
}

function readJson(path) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'))
}
