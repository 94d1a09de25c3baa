/* Turns the source of a cell into the code that an engine evaluates. */
'use strict'
const { normalise, parseProgram } = require('./normalise.js')
const { canStripTypes, stripTypes } = require('./typescript.js')

const NODE = process.versions.node
const LOOKS_TYPED =
  /^\s*(export\s+)?(interface|type|enum|declare|abstract|namespace)\s|\w\??:\s*[\w{[(]|\sas\s|<\w+>|\bimport type\b/

/** Parsing takes about a second for a megabyte. Larger code is evaluated as it is, where `let` allows it. */
const MAXIMUM_CHARACTERS = 512 * 1024

/**
 * Returns the code of a cell for the engine: without types, and normalised.
 *
 * @param keyword that declares variables in the engine: `let` or `var`
 * @param isTyped the code is TypeScript. Otherwise types are removed only from code that is no JavaScript
 * @param check called with the syntax tree and its source; the tree is undefined for large code
 * @throws SyntaxError, and what `check` throws
 */
function prepare(source, number, { keyword = 'let', isTyped = false, check = () => {} } = {}) {
  const plain = isTyped ? untyped(source, number) : source
  const isLarge = plain.length > MAXIMUM_CHARACTERS && keyword === 'let'
  const { program, text } = isLarge ? { text: plain } : parse(plain, number)
  check(program, text)
  return program ? normalise(text, number, program, keyword) : text
}

/** In TypeScript `f<T>(x)` is a call, in JavaScript two comparisons. */
function untyped(source, number) {
  if (!canStripTypes) throw new SyntaxError(`Node.js ${NODE} can't remove the types of TypeScript (22.13 can)`)
  try {
    return stripTypes(source)
  } catch (problem) {
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
function parse(source, number) {
  try {
    return { program: parseProgram(source), text: source }
  } catch (error) {
    let stripped
    try {
      stripped = stripTypes(source)
    } catch (problem) {
      if (problem.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') throw withHint(problem)
    }
    if (stripped === undefined) throw withPosition(error, source, number)
    try {
      return { program: parseProgram(stripped), text: stripped }
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
