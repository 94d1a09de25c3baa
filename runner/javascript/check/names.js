/* What the names of a cell mean. */
'use strict'

/** What the names of a cell mean. */
class Names {
  #lexical

  constructor(check, scan) {
    this.check = check
    this.declared = scan?.declared ?? new Map()
  }

  get lexical() {
    return (this.#lexical ??= new Set(this.check.lexicalNames()))
  }

  isDefined(name) {
    return this.declared.has(name) || this.isVariable(name)
  }

  isVariable(name) {
    return name in programGlobal || this.lexical.has(name)
  }

  /** Has nothing in this cell or before it given the name another meaning? */
  isOriginal(name) {
    return !this.declared.has(name) && !this.lexical.has(name)
  }

  all() {
    return [...this.declared.keys(), ...this.lexical, ...Object.getOwnPropertyNames(programGlobal)]
  }
}

function globalValue(name) {
  return Object.getOwnPropertyDescriptor(programGlobal, name)?.value
}

module.exports = { globalValue, Names }
