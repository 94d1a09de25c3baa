/* `structuredClone`. */
'use strict'

const typedArrays = [
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
  Float32Array, Float64Array, BigInt64Array, BigUint64Array,
] // prettier-ignore
const boxed = [Number, String, Boolean]
const errors = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError]

function clone(value, seen) {
  if (typeof value === 'function' || typeof value === 'symbol')
    throw new DOMException(`${String(value)} could not be cloned.`, 'DataCloneError')
  if (value === null || typeof value !== 'object') return value
  if (seen.has(value)) return seen.get(value)
  const keep = (copy) => {
    seen.set(value, copy)
    return copy
  }
  if (value instanceof Date) return keep(new Date(value.getTime()))
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags))
  if (value instanceof ArrayBuffer) return keep(value.slice(0))
  if (ArrayBuffer.isView(value)) {
    const View = typedArrays.find((each) => value instanceof each) ?? DataView
    return keep(new View(clone(value.buffer, seen), value.byteOffset, value.length ?? value.byteLength))
  }
  if (value instanceof Map) {
    const copy = keep(new Map())
    for (const [key, each] of value) copy.set(clone(key, seen), clone(each, seen))
    return copy
  }
  if (value instanceof Set) {
    const copy = keep(new Set())
    for (const each of value) copy.add(clone(each, seen))
    return copy
  }
  if (Error.isError(value)) {
    const Class = errors.find((each) => value instanceof each) ?? Error
    const copy = keep(new Class(value.message))
    for (const name of ['stack', 'cause'])
      if (name in value)
        Object.defineProperty(copy, name, { value: clone(value[name], seen), writable: true, configurable: true })
    return copy
  }
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet)
    throw new DOMException(`${Object.prototype.toString.call(value)} could not be cloned.`, 'DataCloneError')
  if (boxed.some((each) => value instanceof each)) return keep(Object(value.valueOf()))
  const copy = keep(Array.isArray(value) ? Object.assign([], { length: value.length }) : {})
  for (const key of Object.keys(value)) copy[key] = clone(value[key], seen)
  return copy
}

function install() {
  globalThis.structuredClone = function structuredClone(value) {
    return clone(value, new Map())
  }
}

module.exports = { install }
