import childProcess from 'node:child_process'
import dgram from 'node:dgram'
import dns from 'node:dns'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import inspector from 'node:inspector'
import module from 'node:module'
import net from 'node:net'
import tls from 'node:tls'
import workerThreads from 'node:worker_threads'

/**
 * Removes from this process all parts of Node that it no longer needs. Python's realm has no reference to them: this is
 * defence in depth against an object of Node that leaks into that realm. Node's permission model is a further layer,
 * but does not cover network, signals and file descriptors.
 */
export function stripNode() {
  const { syncBuiltinESMExports } = module
  // Methods on prototypes are removed first, which also disables sockets that Node creates internally.
  refuseAll(net.Socket.prototype, ['connect'])
  refuseAll(net.Server.prototype, ['listen'])
  refuseAll(dgram.Socket.prototype, ['bind', 'connect', 'send', 'addMembership'])
  for (const nodeModule of [
    net,
    tls,
    http,
    https,
    http2,
    dgram,
    dns,
    dns.promises,
    inspector,
    workerThreads,
    childProcess,
    module,
  ]) {
    refuseAll(nodeModule, Object.keys(nodeModule))
  }
  syncBuiltinESMExports()

  // These give access to native bindings, to other processes, and to modules by name.
  remove(
    process,
    (
      'binding _linkedBinding dlopen getBuiltinModule mainModule moduleLoadList report permission kill _kill _debugProcess ' +
      '_debugEnd abort chdir umask setuid setgid seteuid setegid setgroups initgroups loadEnvFile execve _getActiveHandles ' +
      '_getActiveRequests getActiveResourcesInfo openStdin send channel stdin stdout stderr env argv execArgv execPath'
    ).split(' '),
  )

  // These are all globals except those of the language and the three that the bindings use.
  remove(
    globalThis,
    Object.getOwnPropertyNames(globalThis).filter((name) => !allowedGlobals.has(name)),
  )
}

const allowedGlobals = new Set(
  (
    'AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date ' +
    'DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array ' +
    'Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp ' +
    'Set SharedArrayBuffer String SuppressedError Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array ' +
    'Uint8ClampedArray WeakMap WeakRef WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval ' +
    'isFinite isNaN parseFloat parseInt undefined unescape WebAssembly globalThis Buffer TextDecoder performance'
  ).split(' '),
)

function refuseAll(object, names) {
  for (const name of names) {
    if (typeof object[name] !== 'function') continue
    const refused = () => {
      throw new Error(`${name} is not available in the sandbox`)
    }
    // A few getters and constants can't be replaced. They alone give no access.
    Reflect.defineProperty(object, name, { value: refused, configurable: false, writable: false })
  }
}

function remove(object, names) {
  for (const name of names) {
    if (Reflect.deleteProperty(object, name)) continue
    Reflect.set(object, name, undefined)
  }
}
