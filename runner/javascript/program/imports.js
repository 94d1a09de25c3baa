/* What the rewritten code of a cell uses: imports from the folder of the program, and names of functions. */
'use strict'
const { createRequire, isBuiltin } = require('node:module')
const { dirname, join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { IMPORT, META, NAME } = require('../cells/names.js')
// Code may declare these names.
const { Object, String, process } = globalThis

function install() {
  const filename = join(process.cwd(), 'cell.js')
  // Code compares it with `import.meta.url` to know whether it is the main program.
  process.argv[1] = filename
  const require = createRequire(filename)
  const load = async (specifier, options) => {
    const text = String(specifier)
    if (isBuiltin(text) || /^(file|data):/.test(text)) return import(text, options)
    return import(pathToFileURL(require.resolve(text)).href, options)
  }
  const named = (value, name) => Object.defineProperty(value, 'name', { value: name, configurable: true })
  Object.defineProperty(globalThis, IMPORT, { value: load })
  const meta = { dirname: dirname(filename), filename, url: pathToFileURL(filename).href }
  Object.defineProperty(globalThis, META, { value: meta })
  Object.defineProperty(globalThis, NAME, { value: named })
  globalThis.require = require
}

module.exports = { install }
