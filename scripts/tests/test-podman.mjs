// `npm run test:podman`: runs the conformance suite against Podman's service, which it starts and stops.
// PTC_PODMAN_OPTIONS: global options of podman, such as `--root DIR --runroot DIR --runtime runc`.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { progress, root, stop } from '../setup.mjs'

const startMs = 60_000

const version = spawnSync('podman', ['--version'], { encoding: 'utf8' }).stdout?.trim()
if (!version) stop('podman is not installed.')
progress(version)

const options = (process.env['PTC_PODMAN_OPTIONS'] ?? '').split(' ').filter((option) => option !== '')
const folder = mkdtempSync(join(tmpdir(), 'ptc-podman-'))
const socket = join(folder, 'podman.sock')
const service = spawn('podman', [...options, 'system', 'service', '--time=0', `unix://${socket}`], {
  // conmon writes a file into its working directory when a container runs out of memory.
  cwd: folder,
  stdio: ['ignore', 'inherit', 'inherit'],
})

let status = 1
try {
  await listening()
  loadBase()
  // docs/guides/sandboxes.md describes the limits of Podman: sandboxes end with their worker.
  const env = { ...process.env, DOCKER_HOST: `unix://${socket}`, PTC_TEST_DOCKER: 'required', PTC_TEST_PODMAN: '1' }
  const tests = ['--project', 'integration', 'test/integration/sandbox/docker/conformance.test.ts']
  status =
    spawnSync(process.execPath, ['scripts/tests/test.mjs', ...tests], { cwd: root, stdio: 'inherit', env }).status ?? 1
} finally {
  service.kill()
  rmSync(folder, { recursive: true, force: true })
}
process.exit(status)

async function listening() {
  for (let waited = 0; !existsSync(socket); waited += 100) {
    if (service.exitCode !== null || waited > startMs) stop('podman system service does not start; see above.')
    await sleep(100)
  }
}

/** Copies a base image that only Docker has, when no registry is reachable. */
function loadBase() {
  const base = process.env['PTC_BASE_IMAGE']
  if (!base || spawnSync('podman', [...options, 'image', 'exists', base]).status === 0) return
  const archive = join(folder, 'base.tar')
  if (spawnSync('docker', ['save', '-o', archive, base]).status !== 0) return
  progress(`loading ${base}`)
  spawnSync('podman', [...options, 'load', '-q', '-i', archive], { stdio: 'inherit' })
}
