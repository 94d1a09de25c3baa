// `npm run test:podman`: the conformance suite against Podman's service, which it starts for the time of the test.
// PTC_PODMAN_OPTIONS: options of podman before its command, such as `--root DIR --runroot DIR --runtime runc`.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { progress, root, stop } from './setup.mjs'

const startMs = 60_000

const version = spawnSync('podman', ['--version'], { encoding: 'utf8' }).stdout?.trim()
if (!version) stop('there is no podman; install it to test with it.')
progress(version)

const options = (process.env['PTC_PODMAN_OPTIONS'] ?? '').split(' ').filter((option) => option !== '')
const folder = mkdtempSync(join(tmpdir(), 'ptc-podman-'))
const socket = join(folder, 'podman.sock')
const service = spawn('podman', [...options, 'system', 'service', '--time=0', `unix://${socket}`], {
  // conmon leaves a file where it is started when a container runs out of memory.
  cwd: folder,
  stdio: ['ignore', 'inherit', 'inherit'],
})

let status = 1
try {
  await listening()
  loadBase()
  // What it can't do is said in docs/backends.md: sandboxes end with their worker.
  const env = { ...process.env, DOCKER_HOST: `unix://${socket}`, PTC_TEST_DOCKER: 'required', PTC_TEST_PODMAN: '1' }
  const tests = ['--project', 'integration', 'test/sandbox/docker-conformance.test.ts']
  status = spawnSync(process.execPath, ['scripts/test.mjs', ...tests], { cwd: root, stdio: 'inherit', env }).status ?? 1
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

/** A base image that only Docker has, as where no registry can be reached. */
function loadBase() {
  const base = process.env['PTC_BASE_IMAGE']
  if (!base || spawnSync('podman', [...options, 'image', 'exists', base]).status === 0) return
  const archive = join(folder, 'base.tar')
  if (spawnSync('docker', ['save', '-o', archive, base]).status !== 0) return
  progress(`loading ${base}`)
  spawnSync('podman', [...options, 'load', '-q', '-i', archive], { stdio: 'inherit' })
}
