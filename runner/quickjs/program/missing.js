/* What programs look for and the engine lacks, and what is there instead. The session uses this file, too. */
'use strict'

const noFiles = 'there are no files: use the tools'
const noModules = 'there are no modules: the tools, URL, Intl and timers are global'
const noNetwork = 'there is no network: use the tools'
const noProcess = 'there is no process: print with console.log'
const noStreams = 'there are no streams: use arrays and async generators'
const noThreads = 'there are no threads: use promises'
const noBrowser = 'this is no browser: use the tools'
const useBytes = 'use Uint8Array with TextEncoder, TextDecoder, atob and btoa'
const useCrypto = 'use crypto.randomUUID() and crypto.getRandomValues(), which are global'
const useTimers = 'use new Promise((resolve) => setTimeout(resolve, ms))'

/** By the name of a global or a module. */
const substitutes = {
  __proto__: null,
  alert: 'print with console.log',
  assert: 'throw an Error',
  Atomics: noThreads,
  Blob: useBytes,
  BroadcastChannel: noThreads,
  Buffer: useBytes,
  buffer: useBytes,
  child_process: 'there are no processes: use the tools',
  CompressionStream: 'there is no compression: use the tools',
  crypto: useCrypto,
  Crypto: useCrypto,
  CryptoKey: useCrypto,
  DecompressionStream: 'there is no compression: use the tools',
  document: noBrowser,
  events: 'use EventTarget, which is global',
  exports: 'there are no modules: declare functions and variables, which stay for the next cell',
  fetch: noNetwork,
  File: noFiles,
  FormData: noNetwork,
  fs: noFiles,
  'fs/promises': noFiles,
  Headers: noNetwork,
  http: noNetwork,
  https: noNetwork,
  localStorage: 'declare variables, which stay for the next cell',
  MessageChannel: noThreads,
  MessageEvent: noThreads,
  MessagePort: noThreads,
  module: 'there are no modules: declare functions and variables, which stay for the next cell',
  navigator: noBrowser,
  net: noNetwork,
  os: noProcess,
  path: noFiles,
  process: noProcess,
  Request: noNetwork,
  require: noModules,
  Response: noNetwork,
  sessionStorage: 'declare variables, which stay for the next cell',
  stream: noStreams,
  SubtleCrypto: useCrypto,
  timers: 'use setTimeout and setInterval, which are global',
  'timers/promises': useTimers,
  url: 'use URL and URLSearchParams, which are global',
  URLPattern: 'use URL and a regular expression',
  util: 'use structuredClone, TextEncoder and TextDecoder, which are global',
  WebAssembly: 'it is not available here',
  window: 'use globalThis',
  Worker: noThreads,
  worker_threads: noThreads,
  XMLHttpRequest: noNetwork,
  zlib: 'there is no compression: use the tools',
  __dirname: noFiles,
  __filename: noFiles,
}

/** Names of many classes. */
const rules = [
  [/Stream|QueuingStrategy$/, noStreams],
  [/^Performance/, 'use performance.now()'],
  [/Socket|^CloseEvent$|^EventSource$/, noNetwork],
  [/^(Navigator|Storage)$/, noBrowser],
]

/** Returns what is there instead of a global; undefined for other names. */
function substituteOf(name) {
  return substitutes[name] ?? rules.find(([rule]) => rule.test(name))?.[1]
}

/** Returns a sentence about a name; undefined for a name without a substitute. */
function sentenceAbout(name) {
  const substitute = substituteOf(name)
  return substitute && `${substitute.charAt(0).toUpperCase()}${substitute.slice(1)}.`
}

/** Returns a sentence about a module. */
function sentenceAboutModule(name) {
  const builtin = name.startsWith('node:') ? name.slice(5) : name
  return sentenceAbout(builtin) ?? 'It has the language itself, URL, Intl, timers and the tools.'
}

module.exports = { sentenceAbout, sentenceAboutModule, substituteOf }
