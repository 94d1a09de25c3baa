import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { runnerDirectory } from '../../../../src/sandbox/runner-directory.js'

/** Defence in depth: code that got every module of Node by a leak into Python's realm still can't use them. */
test('a stripped Node can reach no network, file, process, worker or native binding', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'ptc-strip-'))
  let connections = 0
  const server = createServer(() => {
    connections += 1
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  copyFileSync(path.join(runnerDirectory, 'wasm', 'strip-node.mjs'), path.join(folder, 'strip-node.mjs'))
  writeFileSync(path.join(folder, 'attack.mjs'), attackScript(port))
  const permission = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission'
  const flags = [permission, `--allow-fs-read=${folder}/*`, '--disallow-code-generation-from-strings', '--no-warnings']
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, path.join(folder, 'attack.mjs')], {
      env: {},
      timeout: 120_000,
    })
    const outcomes = JSON.parse(stdout) as Record<string, string>
    expect(Object.keys(outcomes).length).toBeGreaterThan(15)
    expect(Object.entries(outcomes).filter(([, outcome]) => outcome !== 'refused')).toEqual([])
    expect(connections).toBe(0)
  } finally {
    server.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

const attackScript = (port: number) => `
import fs from 'node:fs'
import { stripNode } from './strip-node.mjs'
const modules = { net: await import('node:net'), http: await import('node:http'), dgram: await import('node:dgram'),
  dns: await import('node:dns'), workers: await import('node:worker_threads'), inspector: await import('node:inspector'),
  child: await import('node:child_process'), module: await import('node:module') }
const { Socket } = modules.net
const { process: node } = globalThis
const globals = globalThis
stripNode()
const attacks = {
  connect: () => modules.net.connect(${port}, '127.0.0.1'),
  'connect by default export': () => modules.net.default.connect(${port}, '127.0.0.1'),
  'socket from before': () => new Socket().connect(${port}, '127.0.0.1'),
  'unix socket': () => new Socket().connect('/var/run/docker.sock'),
  listen: () => modules.net.createServer().listen(0),
  http: () => modules.http.get('http://127.0.0.1:${port}/'),
  dgram: () => modules.dgram.createSocket('udp4').send('x', ${port}, '127.0.0.1'),
  dns: () => modules.dns.lookup('localhost', () => {}),
  fetch: () => globals.fetch('http://127.0.0.1:${port}/'),
  WebSocket: () => new globals.WebSocket('ws://127.0.0.1:${port}/'),
  child: () => modules.child.execSync('id'),
  worker: () => new modules.workers.Worker('1', { eval: true }),
  inspector: () => modules.inspector.open(0),
  require: () => modules.module.createRequire(import.meta.url)('fs'),
  binding: () => node.binding('tcp_wrap'),
  linkedBinding: () => node._linkedBinding('x'),
  dlopen: () => node.dlopen({ exports: {} }, '/lib/x.node'),
  builtin: () => node.getBuiltinModule('fs').readFileSync('/etc/passwd'),
  kill: () => node.kill(node.ppid, 0),
  env: () => node.env.PATH,
  read: () => fs.readFileSync('/etc/hostname'),
  write: () => fs.writeFileSync('/tmp/escaped', 'x'),
  code: () => Function('return 1')(),
}
const outcomes = {}
for (const [name, attack] of Object.entries(attacks)) {
  try {
    attack()
    outcomes[name] = 'succeeded'
  } catch {
    outcomes[name] = 'refused'
  }
}
fs.writeSync(1, JSON.stringify(outcomes))
`
