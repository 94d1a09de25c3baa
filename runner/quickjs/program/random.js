/* Randomness of the session, which a rebuild repeats. The bytes are no secret. */
'use strict'

const { isView } = ArrayBuffer
const MAXIMUM_BYTES = 65_536

function getRandomValues(view) {
  if (!isView(view)) throw new TypeError('getRandomValues() takes a typed array')
  if (view.byteLength > MAXIMUM_BYTES)
    throw new DOMException(`${view.byteLength} bytes are over the limit of ${MAXIMUM_BYTES}`, 'QuotaExceededError')
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(host.randomBytes(view.byteLength))
  return view
}

const randomUUID = () => host.randomUUID()

const withoutSubtle = {
  get subtle() {
    throw new DOMException('crypto.subtle is not available here: use the tools', 'NotSupportedError')
  },
}

function install() {
  Math.random = function random() {
    return host.random()
  }
  Object.defineProperty(globalThis, 'crypto', {
    value: Object.freeze({ getRandomValues, randomUUID, __proto__: withoutSubtle }),
    writable: true,
    configurable: true,
  })
}

module.exports = { install }
