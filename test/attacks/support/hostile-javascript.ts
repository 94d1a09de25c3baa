/**
 * Replaces globals, functions and prototypes that a runner could use. Not those that break Node's own `console.log`,
 * `fs` or `await`: see `brokenNode`.
 */
export const pollutedGlobals = `
const kept = { echo, log: console.log }
for (const { prototype } of [Map, Set, WeakMap, String, Number, Function, RegExp, Error, Uint8Array, Buffer, ArrayBuffer])
  for (const name of Object.getOwnPropertyNames(prototype))
    if (name !== 'constructor') try { prototype[name] = () => { throw new Error('polluted') } } catch {}
for (const name of ['type', 'kind', 'step', 'digest', 'calls', 'results', 'outcome', 'status', 'value', 'ref', 'stop', 'toJSON'])
  Object.prototype[name] = 'polluted'
for (const name of ['parse', 'stringify']) JSON[name] = undefined
for (const namespace of [Reflect, Atomics, Math, Object])
  for (const name of Object.getOwnPropertyNames(namespace)) try { namespace[name] = undefined } catch {}
for (const name of ['setTimeout', 'setImmediate', 'queueMicrotask', 'Date', 'Promise', 'Buffer', 'Map', 'Set', 'Error', 'process'])
  globalThis[name] = undefined
`

/** Changes of prototypes that break Node itself, whatever runs in it. */
export const brokenNode: Readonly<Record<string, string>> = {
  'the methods of arrays':
    "for (const name of Object.getOwnPropertyNames(Array.prototype)) if (typeof Array.prototype[name] === 'function' && name !== 'constructor') Array.prototype[name] = () => { throw 1 }",
  'the methods of promises': 'Promise.prototype.then = () => { throw 1 }',
  'an error of each object': "Object.prototype.error = 'polluted'",
  'the functions of Buffer':
    'for (const name of Object.getOwnPropertyNames(Buffer)) try { Buffer[name] = undefined } catch {}',
  'the emitter of events':
    "const { EventEmitter } = await import('node:events'); EventEmitter.prototype.emit = () => { throw 1 }",
}

/**
 * Speaks the protocol instead of the runner, by its descriptors. `send` writes a message, `raw` any bytes; `suspend`
 * sends calls and returns the statuses of their results; `end` ends the cell with this output.
 */
export const forgedFrames = `
const { readSync, writeSync } = await import('node:fs')
let step = 1
const raw = (bytes) => { for (let at = 0; at < bytes.length;) at += writeSync(4, bytes, at) }
const frameOf = (message) => {
  const body = Buffer.from(JSON.stringify(message))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(body.length)
  return Buffer.concat([length, body])
}
const send = (message) => raw(frameOf(message))
const call = (number, tool, args = {}) => ({ call: number, tool, arguments: args })
const suspend = (...calls) => {
  send({ type: 'suspended', step, calls, wake_in: null, output: '' })
  let received = Buffer.alloc(0)
  for (;;) {
    const piece = Buffer.alloc(65536)
    received = Buffer.concat([received, piece.subarray(0, readSync(3, piece))])
    while (received.length >= 4 && received.length >= 4 + received.readUInt32BE(0)) {
      const end = 4 + received.readUInt32BE(0)
      const frame = JSON.parse(received.subarray(4, end))
      received = received.subarray(end)
      if (frame.type !== 'resume') continue
      step = frame.step
      return frame.results.map(({ outcome }) => outcome.status)
    }
  }
}
const end = (output) => { send({ type: 'completed', step, output }); for (;;); }
`
