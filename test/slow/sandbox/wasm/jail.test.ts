import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultLimits } from '../../../../src/common/run/limits.js'
import { WasmConnection } from '../../../../src/sandbox/wasm/interpreter/wasm-connection.js'
import { Interpreter } from '../../../../src/sandbox/wasm/interpreter/interpreter.js'
import { jailCommand } from '../../../../src/sandbox/wasm/jail/jail-command.js'
import type { ChildSettings } from '../../../../src/sandbox/wasm/jail/jail-command.js'
import { noJailLayers, probeJailLayers } from '../../../../src/sandbox/wasm/jail/jail-layers.js'
import type { JailLayers } from '../../../../src/sandbox/wasm/jail/jail-layers.js'
import { AttackClient, createAttackRunner } from '../../../support/sandbox/wasm-sandbox.js'

const canary = `canary-${process.pid}-${Math.random()}`
const folder = mkdtempSync(path.join(tmpdir(), 'ptc-canary-'))
const secretFile = path.join(folder, 'secret.txt')
const settings: ChildSettings = { limits: defaultLimits, runner: createAttackRunner() }

let server: Server
let port: number
let connections = 0
let everyLayer: JailLayers

beforeAll(async () => {
  writeFileSync(secretFile, canary)
  process.env['PTC_CANARY'] = canary
  server = createServer((socket) => {
    connections += 1
    socket.end(canary)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  port = (server.address() as AddressInfo).port
  everyLayer = await probeJailLayers(settings)
})

afterAll(() => {
  delete process.env['PTC_CANARY']
  server.close()
  for (const each of [folder, settings.runner]) rmSync(each, { recursive: true, force: true })
})

const js = (code: string) =>
  `import ctypes; answer = ctypes.CDLL(None).emscripten_run_script_int(${JSON.stringify(code)}.encode())`

/** Each attack tries to get data of the host into `answer`. */
const attacks: Readonly<Record<string, () => string>> = {
  'os.system': () => `import os; answer = os.system("cat ${secretFile}; touch ${folder}/touched")`,
  'os.popen': () => `import os; answer = os.popen("cat ${secretFile}").read()`,
  subprocess: () => `import subprocess; answer = subprocess.check_output(["cat", "${secretFile}"])`,
  'os.fork and exec': () => `import os; os.execv("/bin/cat", ["cat", "${secretFile}"])`,
  'open a host file': () => `answer = open("${secretFile}").read()`,
  'environment of this process': () => `import os; answer = dict(os.environ)`,
  '/proc/self/environ': () => `answer = open("/proc/self/environ").read()`,
  'eval by emscripten, file': () => js(`globalThis.leak = require('fs').readFileSync('${secretFile}', 'utf8')`),
  'eval by emscripten, environment': () => js('throw new Error(JSON.stringify(process.env))'),
  'eval by emscripten, child process': () => js(`require('child_process').execSync('touch ${folder}/touched')`),
  'eval by emscripten, fetch': () => js(`fetch('http://127.0.0.1:${port}/')`),
  'eval by emscripten, import': () => js(`import('node:net').then((net) => net.connect(${port}))`),
  'js.process': () => 'import js; answer = js.process.env',
  'js.require': () => `import js; answer = js.require("fs").readFileSync("${secretFile}", "utf8")`,
  'js.fetch': () => `import js; answer = js.fetch("http://127.0.0.1:${port}/")`,
  'js.WebSocket': () => `import js; answer = js.WebSocket.new("ws://127.0.0.1:${port}/")`,
  'js.Worker': () => 'import js; answer = js.Worker.new("data:text/javascript,1")',
  'js.eval': () => 'import js; answer = js.eval("process.env")',
  'Function by constructor': () => 'import js; answer = js.Object.constructor("return process")().env',
  'constructor of an error': () =>
    'import js\ntry: js.os.system()\nexcept Exception as e: answer = e.constructor.constructor("return process")().env',
  'call sites': () => `
import js
from pyodide.ffi import create_proxy
seen = []
def prepare(error, frames):
    for frame in frames: seen.extend([frame.getThis(), frame.getFunction()])
js.Error.prepareStackTrace = create_proxy(prepare)
js.Error.stackTraceLimit = 200
js.Error.new('a').stack
answer = [getattr(each, 'env', None) or getattr(each, 'process', None) for each in seen if each is not None]`,
  'run_js of pyodide': () => 'from pyodide.code import run_js; answer = run_js("process.env")',
  pyodide_js: () =>
    `import pyodide_js; pyodide_js.mountNodeFS("/mnt", "${folder}"); answer = open("/mnt/secret.txt").read()`,
  'mount of the host': () => `
import js, os, pyodide_js
os.makedirs('/mnt')
FS = pyodide_js.FS
FS.mount(FS.filesystems.NODEFS, js.JSON.parse('{"root": "${folder}"}'), '/mnt')
answer = open('/mnt/secret.txt').read()`,
  'package from the network': () =>
    `import pyodide_js; answer = pyodide_js.loadPackage("http://127.0.0.1:${port}/a.whl")`,
  'socket to the host': () => `
import socket
connection = socket.create_connection(("127.0.0.1", ${port}), 2)
answer = connection.recv(100)`,
  urllib: () => `import urllib.request; answer = urllib.request.urlopen("http://127.0.0.1:${port}/").read()`,
  'signal to the worker': () => `import os; os.kill(${process.pid}, 9)`,
}

const jails: Readonly<Record<string, () => JailLayers>> = {
  'every layer of this machine': () => everyLayer,
  'JavaScript layers alone': () => ({ ...noJailLayers, permissionFlag: everyLayer.permissionFlag }),
}

describe.each(Object.keys(jails))('with %s', (name) => {
  test('attacks on the jail get no data of the host, and reach nothing outside', async () => {
    const outcomes = new Map<string, string>()
    let interpreter: Interpreter | undefined
    let attacker: AttackClient | undefined
    for (const [attack, source] of Object.entries(attacks)) {
      if (!interpreter?.alive) {
        interpreter = new Interpreter(jailCommand(jails[name]?.() ?? everyLayer, settings, 'main.mjs'))
        await interpreter.ready
        attacker = new AttackClient(new WasmConnection(interpreter, 'attacked'))
      }
      const reply = await attacker?.run(source())
      if (reply === undefined) await interpreter.kill()
      const end = reply === undefined ? await interpreter.ended : undefined
      outcomes.set(attack, JSON.stringify(reply ?? end))
    }
    await interpreter?.kill()

    for (const [attack, outcome] of outcomes) expect(outcome, attack).not.toContain(canary)
    expect(connections).toBe(0)
    expect(() => rmSync(path.join(folder, 'touched'))).toThrow('ENOENT')
    // The attacks did run: these are the results of the layers, not of a broken test.
    expect(outcomes.get('os.system')).toBe('{"answer":-1}')
    expect(outcomes.get('open a host file')).toContain('FileNotFoundError')
    expect(outcomes.get('eval by emscripten, file')).toContain('Code generation from strings disallowed')
    expect(outcomes.get('js.process')).toContain('AttributeError')
    expect(outcomes.get('Function by constructor')).toContain('Code generation from strings disallowed')
    expect(outcomes.get('constructor of an error')).toContain('Code generation from strings disallowed')
  })
})

/** Most containers have no user namespaces, and therefore lack the layers that need them. `check` warns there. */
const namespaces = spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'true']).status === 0

test.skipIf(!namespaces)('every layer of the jail is available when user namespaces are allowed', () => {
  expect(everyLayer).toMatchObject({
    shell: expect.any(String),
    setpriv: expect.any(String),
    unshare: expect.any(String),
  })
  expect(everyLayer.emptyRoot).toBe(true)
})
