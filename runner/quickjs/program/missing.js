/* What programs look for and the engine lacks, and what is there instead. The session uses this file, too. */
'use strict'

const names = {
  __proto__: null,
  process: 'there is no process: print with console.log',
  require: 'there are no modules: the tools, URL, Intl and timers are global',
  module: 'there are no modules: declare functions and variables, which stay for the next cell',
  Buffer: 'use Uint8Array with TextEncoder, TextDecoder, atob and btoa',
  fetch: 'there is no network: use the tools',
  XMLHttpRequest: 'there is no network: use the tools',
  WebSocket: 'there is no network: use the tools',
  Worker: 'there are no threads: use promises',
  WebAssembly: 'it is not available here',
  Atomics: 'there are no threads',
  alert: 'print with console.log',
  window: 'use globalThis',
  document: 'this is no browser: use the tools',
}

const modules = {
  __proto__: null,
  crypto: 'crypto.randomUUID() and crypto.getRandomValues() are global.',
  fs: 'There are no files: use the tools.',
  path: 'There are no files: use the tools.',
  url: 'URL and URLSearchParams are global.',
  util: 'structuredClone, TextEncoder and TextDecoder are global.',
  timers: 'setTimeout and setInterval are global.',
  'timers/promises': 'Use new Promise((resolve) => setTimeout(resolve, ms)).',
  http: 'There is no network: use the tools.',
  https: 'There is no network: use the tools.',
}

/** What is there instead of a name; undefined for other names. */
const substituteOf = (name) => names[name]

/** What is there instead of a module. */
function substituteOfModule(name) {
  const builtin = name.startsWith('node:') ? name.slice(5) : name
  return modules[builtin] ?? 'It has the language itself, URL, Intl, timers and the tools.'
}

module.exports = { substituteOf, substituteOfModule }
