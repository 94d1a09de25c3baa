/*
 * Evaluates the source of a cell with the REPL mode of V8's inspector: top-level await, variables that stay, and real
 * variables of V8, which are fast.
 */
'use strict'
const inspector = require('node:inspector')
const v8 = require('node:v8')
const { normalise, parseProgram } = require('./normalise.js')
const { stripTypes } = require('./typescript.js')

const { createHook } = v8.promiseHooks
const { then } = programGlobal.Promise.prototype

/** Parsing takes about a second for a megabyte. Larger code is evaluated as it is. */
const MAXIMUM_CHARACTERS = 512 * 1024

class Evaluator {
  constructor() {
    this.inspector = new inspector.Session()
    this.inspector.connect()
    // The inspector holds the promise of a cell only weakly, and V8 calls back during garbage collection when it is
    // collected, which ends the process. So every promise of a cell is held.
    this.held = []
  }

  /**
   * Starts a cell.
   *
   * @param check called with the syntax tree and its source, before anything is executed; undefined for large code
   * @param onEnd called with its error, if it ends with one
   * @throws SyntaxError, and what `check` throws
   */
  start(source, number, check, onEnd) {
    const { program, text } = source.length > MAXIMUM_CHARACTERS ? { text: source } : parse(source, number)
    check(program, text)
    const code = program ? normalise(text, number, program) : text
    let promise
    let answer
    const stop = createHook({ init: (created) => void (promise ??= created) })
    try {
      const expression = `${code}\n//# sourceURL=cell-${number}.js`
      const request = { expression, replMode: true, silent: true }
      this.inspector.post('Runtime.evaluate', request, (error, result) => (answer ??= error ?? result))
    } finally {
      stop()
    }
    if (promise === undefined) throw syntaxErrorOf(answer, number)
    this.held.push(promise)
    then.call(
      promise,
      () => onEnd(),
      (error) => onEnd({ error }),
    )
  }

  /** The names of variables that are no properties of the global object. */
  lexicalNames() {
    let names = []
    this.inspector.post('Runtime.globalLexicalScopeNames', {}, (_, result) => (names = result?.names ?? []))
    return names
  }
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
  located.stack = [`cell-${number}.js:${loc.line}`, ...shown, '', `SyntaxError: ${text}${hintFor(text)}`].join('\n')
  return located
}

function hintFor(text) {
  return text.includes("'return' outside of function") ? '. A cell is no function: print the result.' : ''
}

function syntaxErrorOf(answer, number) {
  const { exceptionDetails } = answer ?? {}
  const description = exceptionDetails?.exception?.description ?? 'the code can not be evaluated'
  const error = new SyntaxError(description.split('\n')[0].replace(/^SyntaxError: /, ''))
  error.stack = `cell-${number}.js:${(exceptionDetails?.lineNumber ?? 0) + 1}\n\n${description.split('\n')[0]}`
  return error
}

module.exports = { Evaluator }
