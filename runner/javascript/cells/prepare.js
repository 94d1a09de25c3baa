/* Turns the source of a cell into the code that an engine evaluates. */
'use strict'
const { normalise } = require('./normalise.js')
const { canStripTypes, stripTypes } = require('./typescript.js')

const NODE = process.versions.node
const LOOKS_TYPED =
  /^\s*(export\s+)?(interface|type|enum|declare|abstract|namespace)\s|\w\??:\s*[\w{[(]|\sas\s|<\w+>|\bimport type\b/

/**
 * Returns the code of a cell for the engine: without types, and normalised.
 *
 * Plain JavaScript never loses a part to the removal of types: `a < b > (c)` is a comparison.
 *
 * @param keyword that declares variables in the engine
 * @throws SyntaxError
 */
function prepare(source, number, keyword) {
  try {
    return normalise(source, number, keyword)
  } catch (error) {
    let stripped
    try {
      stripped = stripTypes(source)
    } catch (problem) {
      if (problem.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') throw withHint(problem)
    }
    if (stripped === undefined) throw withPosition(error, source, number)
    try {
      return normalise(stripped, number, keyword)
    } catch (problem) {
      throw withPosition(problem, source, number)
    }
  }
}

function withHint({ message }) {
  return new SyntaxError(`${message}. Only types are removed: write an enum as an object, a namespace as a module.`)
}

/** Adds the line of the code, as Node does. */
function withPosition(error, source, number) {
  const { loc, message } = error
  if (!loc) return error
  const line = source.split('\n')[loc.line - 1] ?? ''
  const text = message.replace(/ \(\d+:\d+\)$/, '')
  const shown = line.length > 200 ? [] : [line, `${' '.repeat(loc.column)}^`]
  const located = new SyntaxError(text)
  located.stack = [`cell-${number}.js:${loc.line}`, ...shown, '', `SyntaxError: ${text}${hintFor(text, line)}`].join(
    '\n',
  )
  return located
}

function hintFor(text, line) {
  if (text.includes("'return' outside of function")) return '. A cell is no function: print the result.'
  if (!canStripTypes && LOOKS_TYPED.test(line))
    return `. Write plain JavaScript: Node.js ${NODE} can't remove the types of TypeScript (22.13 can).`
  return ''
}

module.exports = { prepare }
