/*
 * Evaluates the source of a cell with the REPL mode of V8's inspector: top-level await, variables that stay, and real
 * variables of V8, which are fast.
 */
'use strict'
const inspector = require('node:inspector')
const v8 = require('node:v8')
const { prepare } = require('./prepare.js')

const { createHook } = v8.promiseHooks
const { then } = programGlobal.Promise.prototype

class Evaluator {
  /** @param isTyped cells are TypeScript */
  constructor(isTyped) {
    this.isTyped = isTyped
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
    const code = prepare(source, number, { isTyped: this.isTyped, check })
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
    Reflect.apply(then, promise, [() => onEnd(), (error) => onEnd({ error })])
  }

  /** The names of variables that are no properties of the global object. */
  lexicalNames() {
    let names = []
    this.inspector.post('Runtime.globalLexicalScopeNames', {}, (_, result) => (names = result?.names ?? []))
    return names
  }
}

function syntaxErrorOf(answer, number) {
  const { exceptionDetails } = answer ?? {}
  const description = exceptionDetails?.exception?.description ?? 'the code can not be evaluated'
  const error = new SyntaxError(description.split('\n')[0].replace(/^SyntaxError: /, ''))
  error.stack = `cell-${number}.js:${(exceptionDetails?.lineNumber ?? 0) + 1}\n\n${description.split('\n')[0]}`
  return error
}

module.exports = { Evaluator }
