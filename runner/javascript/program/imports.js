/* What the rewritten code of a cell calls: imports from the folder of the program, and names of functions. */
'use strict'
const { createRequire, isBuiltin } = require('node:module')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
// Code may declare these names.
const { Object, String, process } = globalThis

/** Names by which the rewritten code reaches these functions. They are no enumerable globals. */
const IMPORT = '__ptc_import'
const NAME = '__ptc_name'

function install() {
  const require = createRequire(join(process.cwd(), 'cell.js'))
  const load = async (specifier, options) => {
    const text = String(specifier)
    if (isBuiltin(text) || /^(file|data):/.test(text)) return import(text, options)
    return import(pathToFileURL(require.resolve(text)).href, options)
  }
  const named = (value, name) => Object.defineProperty(value, 'name', { value: name, configurable: true })
  Object.defineProperty(globalThis, IMPORT, { value: load })
  Object.defineProperty(globalThis, NAME, { value: named })
  globalThis.require = require
}

module.exports = { IMPORT, NAME, install }
