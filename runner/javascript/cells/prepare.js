/* Turns the source of a cell into the code that an engine evaluates. */
'use strict'
const { normalise } = require('./normalise.js')
const { parseProgram } = require('./parse.js')
const { obstacleToTypes, stripTypes } = require('./typescript.js')

const LOOKS_TYPED =
  /^\s*(export\s+)?(interface|type|enum|declare|abstract|namespace)\s|\w\??:\s*[\w{[(]|\sas\s|<\w+>|\bimport type\b/

/** What the parser says of code that is nested too deeply, also for the removal of types. */
const IS_TOO_DEEP = /^Not enough stack space/

/** Parsing takes about a second for a megabyte. Larger code is evaluated as it is, where `let` allows it. */
const MAXIMUM_CHARACTERS = 512 * 1024

/**
 * Returns the code of a cell for the engine: without types, and normalised.
 *
 * @param keyword that declares variables in the engine: `let` or `var`
 * @param isTyped the code is TypeScript. Otherwise types are removed only from code that is no JavaScript
 * @param check called with the syntax tree and its source; the tree is undefined for large code
 * @param onProgress called again and again while code is parsed
 * @throws SyntaxError, and what `check` and `onProgress` throw
 */
function prepare(source, number, { keyword = 'let', isTyped = false, check = () => {}, onProgress } = {}) {
  const plain = isTyped ? untyped(source, number) : source
  const isLarge = plain.length > MAXIMUM_CHARACTERS && keyword === 'let'
  const { program, text } = isLarge ? { text: plain } : parse(plain, number, onProgress)
  check(program, text)
  return program ? normalise(text, number, program, keyword) : text
}

/** In TypeScript `f<T>(x)` is a call, in JavaScript two comparisons. */
function untyped(source, number) {
  try {
    return stripTypes(source)
  } catch (problem) {
    if (problem.code === undefined) throw problem
    throw problem.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX' ? withHint(problem) : withLines(problem, number)
  }
}

/** Names the cell in an error of Node's parser, whose stack begins with `:LINE` and the line of the code. */
function withLines({ message, stack }, number) {
  const shown = stack.slice(0, stack.indexOf('SyntaxError'))
  const located = new SyntaxError(message)
  located.stack = `cell-${number}.js${shown.length > 500 ? '\n\n' : shown}SyntaxError: ${message}`
  return located
}

/** Plain JavaScript never loses a part to the removal of types: `a < b > (c)` is a comparison. */
function parse(source, number, onProgress) {
  try {
    return { program: parseProgram(source, onProgress), text: source }
  } catch (error) {
    if (error.loc === undefined) throw error
    const stripped = IS_TOO_DEEP.test(error.message) ? undefined : withoutTypes(source)
    if (stripped === undefined) throw withPosition(error, source, number)
    try {
      return { program: parseProgram(stripped, onProgress), text: stripped }
    } catch (problem) {
      throw withPosition(problem, source, number)
    }
  }
}

/** Returns undefined for code that is no TypeScript either. */
function withoutTypes(source) {
  try {
    return stripTypes(source)
  } catch (problem) {
    if (problem.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') throw withHint(problem)
    return undefined
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
  const obstacle = obstacleToTypes()
  if (obstacle !== undefined && LOOKS_TYPED.test(line)) return `. Write plain JavaScript: ${obstacle}.`
  return ''
}

module.exports = { prepare }
