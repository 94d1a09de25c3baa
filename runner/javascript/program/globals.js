/* What the check of a cell must know of the program, in a form that code of the program has no part in. */
'use strict'
const { installedTools } = require('./tools.js')

// Code may declare these names.
const { Object, Promise, RangeError } = globalThis
const { getOwnPropertyDescriptor, getOwnPropertyNames, getPrototypeOf } = Object
const promises = Promise.prototype
const MAXIMUM_CHARACTERS = 500_000 // of all names

/**
 * Returns names, each as the key of an object: all `globals`, the global `tools` that are still the functions of the
 * runner, and the members of `promises`.
 *
 * @throws RangeError when they are too many, and what a prototype of the global object throws
 */
function readGlobals() {
  const tools = { __proto__: null }
  for (const name in installedTools)
    if (getOwnPropertyDescriptor(globalThis, name)?.value === installedTools[name]) tools[name] = true
  return { __proto__: null, globals: namesIn(globalThis), tools, promises: namesIn(promises) }
}

/** The names of the members of an object, also of inherited ones. */
function namesIn(object) {
  const found = { __proto__: null }
  let characters = 0
  for (let each = object; each !== null; each = getPrototypeOf(each)) {
    const names = getOwnPropertyNames(each)
    for (let index = 0; index < names.length; index += 1) {
      characters += names[index].length + 1
      if (characters > MAXIMUM_CHARACTERS) throw new RangeError('too many names')
      found[names[index]] = true
    }
  }
  return found
}

module.exports = { readGlobals }
