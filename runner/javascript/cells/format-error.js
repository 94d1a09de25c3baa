/* The text of an error for the model. */
'use strict'
const { readdirSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')
const { inspect, types } = require('node:util')

const { isNativeError } = types
const { Error: ProgramError } = programGlobal
const MAXIMUM_ERROR_CHARACTERS = 8_000
/** Their values are in the stack, or are shown in another way. */
const SHOWN_ELSEWHERE = new Set(['name', 'message', 'stack', 'cause', 'errors'])
const MAXIMUM_PROPERTIES = 10
const MAXIMUM_PROPERTY_CHARACTERS = 500
const RUNNER_FOLDER = dirname(__dirname)
const MODULE_IS_MISSING = new Set(['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'])
const MAXIMUM_LISTED_PACKAGES = 50

/** Returns the text of an error with the lines of cells only. Never throws. */
function formatError(error) {
  try {
    const text = isError(error) ? errorText(error, new Set()) + hintFor(error) : `Uncaught ${inspect(error)}`
    if (text.length <= MAXIMUM_ERROR_CHARACTERS) return text.toWellFormed?.() ?? text
    const half = MAXIMUM_ERROR_CHARACTERS / 2
    return `${text.slice(0, half)}\n[... cut ...]\n${text.slice(-half)}`
  } catch {
    return 'an error that can not be shown' // hostile getters
  }
}

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

function isError(value) {
  return isNativeError(value) || value instanceof ProgramError
}

function errorText(error, seen) {
  seen.add(error)
  const { stack, cause, errors } = error
  const lines = String(stack ?? error)
    .split('\n')
    .filter(isShown)
  lines.push(...propertiesOf(error, lines.pop()))
  if (Array.isArray(errors))
    for (const each of errors.slice(0, 10)) if (!seen.has(each)) lines.push(...indented(errorOrValue(each, seen)))
  if (cause !== undefined && !seen.has(cause)) lines.push(...indented(`[cause]: ${errorOrValue(cause, seen)}`))
  return lines.join('\n')
}

/** The last line of the stack, with the properties that code has given to the error, as Node.js shows them. */
function propertiesOf(error, line) {
  const shown = Object.entries(Object.getOwnPropertyDescriptors(error))
    .filter(([key, { enumerable, value }]) => enumerable && value !== undefined && !SHOWN_ELSEWHERE.has(key))
    .slice(0, MAXIMUM_PROPERTIES)
    .map(([key, { value }]) => `${key}: ${inspect(value, { depth: 1 }).slice(0, MAXIMUM_PROPERTY_CHARACTERS)}`)
  return shown.length === 0 ? [line] : [`${line} {`, ...indented(shown.join(',\n')), '}']
}

function errorOrValue(value, seen) {
  return isError(value) ? errorText(value, seen) : inspect(value, { depth: 2 })
}

function indented(text) {
  return text.split('\n').map((line) => `  ${line}`)
}

/** Hides the frames of Node and of the runner. */
function isShown(line) {
  return (
    !/^\s+at /.test(line) || !(line.includes('node:') || line.includes(RUNNER_FOLDER) || line.includes('<anonymous>:'))
  )
}

module.exports = { formatError }
