/* The text of an error of the program. */
'use strict'
const { readdirSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')
const { inspect, types } = require('node:util')
const { createFormatError } = require('./error-text.js')

const { isNativeError } = types
const { Error: ProgramError } = programGlobal
const RUNNER_FOLDER = dirname(__dirname)
const MODULE_IS_MISSING = new Set(['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'])
const MAXIMUM_LISTED_PACKAGES = 50

/** Returns the text of an error with the lines of cells only. Never throws. */
function hintFor({ code }) {
  if (!MODULE_IS_MISSING.has(code)) return ''
  const packages = installedPackages()
  const others = packages.length > 0 ? ` and these packages: ${packages.join(', ')}` : ''
  return `\n[hint] Packages can't be installed. This sandbox has the modules of Node.js${others}.`
}

function installedPackages() {
  const folders = createRequire(join(process.cwd(), 'cell.js')).resolve.paths('a-package') ?? []
  const names = folders.flatMap((folder) => {
    try {
      return readdirSync(folder).filter((name) => !name.startsWith('.'))
    } catch {
      return [] // there is no such folder
    }
  })
  return [...new Set(names)].sort().slice(0, MAXIMUM_LISTED_PACKAGES)
}

const formatError = createFormatError({
  inspect,
  hintFor,
  isError: (value) => isNativeError(value) || value instanceof ProgramError,
  // Hides the frames of Node and of the runner.
  isShown: (line) =>
    !/^\s+at /.test(line) || !(line.includes('node:') || line.includes(RUNNER_FOLDER) || line.includes('<anonymous>:')),
})

module.exports = { formatError }
