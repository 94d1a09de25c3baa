import { execFile } from 'node:child_process'
import { copyFile, cp, realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../folders.js'
import { root } from './tools.js'

/** Runs a command and returns its output. */
export const run = async (command: string, ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(command, args, { maxBuffer: 64 * 1024 * 1024 })).stdout.trim()

export const docker = (...args: readonly string[]): Promise<string> => run('docker', ...args)

/** The network for builds; undefined: that of the daemon. */
export const buildNetwork = process.env['PTC_BUILD_NETWORK']

/**
 * The image with Node.js for deploy/Dockerfile. It is made here, from `PTC_BASE_IMAGE` with the Node.js and the npm of
 * this process, and removed after the test.
 *
 * @returns undefined without `PTC_BASE_IMAGE`: the image of a registry
 */
export async function makeNodeImage(tag: string): Promise<string | undefined> {
  const base = process.env['PTC_BASE_IMAGE']
  if (base === undefined) return undefined
  const folder = await temporaryFolder()
  const npm = dirname(dirname(await realpath((await run('which', 'npm')) || 'npm')))
  await copyFile(process.execPath, join(folder, 'node'))
  await cp(npm, join(folder, 'npm'), { recursive: true })
  const certificates = process.env['NODE_EXTRA_CA_CERTS']
  if (certificates !== undefined) await copyFile(certificates, join(folder, 'npm', 'certificates.pem'))
  const lines = [
    `FROM ${base}`,
    'COPY node /usr/local/bin/node',
    'COPY npm /usr/local/lib/node_modules/npm',
    'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
    `ENV npm_config_registry=${await run('npm', 'config', 'get', 'registry')}`,
    ...(certificates === undefined ? [] : ['ENV NODE_EXTRA_CA_CERTS=/usr/local/lib/node_modules/npm/certificates.pem']),
  ]
  await writeFile(join(folder, 'Dockerfile'), lines.join('\n'))
  onTestFinished(async () => void (await docker('rmi', '--force', tag)))
  await docker('build', '--quiet', '--network', 'none', '--tag', tag, folder)
  return tag
}

/** Builds deploy/Dockerfile with the project examples/fleet. The image is removed after the test. */
export async function buildWorkerImage(tag: string): Promise<void> {
  const node = await makeNodeImage(`${tag}-node`)
  onTestFinished(async () => void (await docker('rmi', '--force', tag)))
  const options = [
    ...(node === undefined ? [] : ['--build-arg', `NODE_IMAGE=${node}`]),
    ...(buildNetwork === undefined ? [] : ['--network', buildNetwork]),
  ]
  await docker('build', ...options, '--file', join(root, 'deploy/Dockerfile'), '--tag', tag, root)
}
