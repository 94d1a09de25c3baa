/*
 * Parses a cell, whose source is untrusted. The parser needs minutes for some sources of a megabyte, such as many
 * declarations of one scope, so it reports its progress to whoever bounds the time.
 */
'use strict'
const { Parser } = require('../vendor/acorn.js')

const TOKENS_OF_PROGRESS = 1_000
/** The engine checks a longer one. The parser compares all pairs of groups of a pattern, and reports no progress. */
const MAXIMUM_PATTERN_CHARACTERS = 2_000

const options = {
  ecmaVersion: 'latest',
  sourceType: 'module',
  allowAwaitOutsideFunction: true,
  allowHashBang: true,
}

class CellParser extends Parser {
  #tokens = 0

  constructor(source, sourceType, onProgress) {
    super({ ...options, sourceType }, source)
    this.onProgress = onProgress
  }

  nextToken() {
    this.#tokens += 1
    if (this.#tokens % TOKENS_OF_PROGRESS === 0) this.onProgress()
    return super.nextToken()
  }

  validateRegExpPattern(state) {
    if (state.source.length <= MAXIMUM_PATTERN_CHARACTERS) super.validateRegExpPattern(state)
  }
}

/**
 * The code of models is a module, or a script that a module refuses, such as one with `with` or octal numbers.
 *
 * @param onProgress called again and again. What it throws ends the parsing
 * @throws SyntaxError of the parser, with `loc`, and what `onProgress` throws
 */
function parseProgram(source, onProgress = () => {}) {
  try {
    return new CellParser(source, 'module', onProgress).parse()
  } catch (error) {
    try {
      return new CellParser(source, 'script', onProgress).parse()
    } catch (other) {
      throw other instanceof SyntaxError ? error : other
    }
  }
}

module.exports = { parseProgram }
