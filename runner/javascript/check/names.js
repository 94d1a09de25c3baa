/* What the names of a cell mean. */
'use strict'

/** What the names of a cell mean. */
class Names {
  #lexical

  /**
   * @param program see cell-check.js
   * @param declared by the cell
   */
  constructor(program, declared) {
    this.program = program
    this.declared = declared
    const { globals, tools, promises } = program.readGlobals()
    this.globals = new Set(Object.keys(globals))
    this.tools = new Set(Object.keys(tools))
    this.membersOfPromises = new Set(Object.keys(promises))
  }

  get lexical() {
    return (this.#lexical ??= new Set(this.program.lexicalNames()))
  }

  isDefined(name) {
    return this.declared.has(name) || this.isVariable(name)
  }

  isVariable(name) {
    return this.globals.has(name) || this.lexical.has(name)
  }

  /** Has nothing in this cell or before it given the name another meaning? */
  isOriginal(name) {
    return !this.declared.has(name) && !this.lexical.has(name)
  }

  isTool(name) {
    return this.tools.has(name) && this.isOriginal(name)
  }

  isMemberOfPromises(key) {
    return this.membersOfPromises.has(String(key))
  }

  all() {
    return [...this.declared.keys(), ...this.lexical, ...this.globals]
  }
}

module.exports = { Names }
