/*
 * Finds mistakes in a cell before it runs, so that a cell with a mistake has no effect.
 *
 * Owns: which mistakes are certain, and their text.
 * Boundary: reads the syntax tree, and the names of variables. It executes nothing of the cell. It knows no engine: the
 * runners of containers and of the embedded sandbox use these files.
 *
 * 1. A finding is certain: executed, the cell would reach its line and fail there, or use a promise as the result that it
 *    forgot to await, unless the cell fails before. What can't be known is not reported.
 * 2. The findings depend only on the source, the variables and the cells before: a rebuild finds the same.
 * 3. The check never fails, and is bounded in time and text. A cell that is too large or nested too deeply is not checked.
 *
 * Code is certain when each execution of the cell reaches it: the statements of the cell and of its blocks; the body of a
 * function that is defined once and called there (an async one: awaited); the first round of a loop over a literal. In
 * them, only the operands that are always evaluated count. Not certain, because another execution may pass by or catch
 * the error: branches, `try`, other loops, code after a statement that may leave the block, other functions, classes.
 *
 * | mistake                    | certain where, in certain code                                                      |
 * |----------------------------|-------------------------------------------------------------------------------------|
 * | undefined name             | nothing in the cell declares or assigns it, and it is neither a variable nor global  |
 * | arguments of a tool        | the call is awaited, or a statement, and no `...` or variable may hold the rest      |
 * | forgotten `await`          | the call is an operand of something that makes no sense of a promise                |
 *
 * A tool call as a statement is no mistake: the cell waits for it. A name is that of a tool when nothing in the cell
 * declares or assigns it, no variable hides it, and the global is the tool.
 *
 * Some code can define names in ways that the source does not show, or can end the cell without an error (`STOP_WORDS`,
 * `this` outside of classes). In a cell, the check ends in front of the first statement that contains such code. After a
 * cell with such code, with an assignment that may make a global, or without a check, later cells are not checked:
 * functions of that cell may be called there. Packages may define globals, so names are not checked after they were
 * imported.
 *
 *   cell-check.js     the check of the cells of a session, and what it keeps from cell to cell
 *   scan.js           what the whole of a cell contains: names, and code that ends the check
 *   certain-code.js   walks through the certain code, and finds mistakes
 *   arguments.js      mistakes in the arguments of one call of a tool
 *   literals.js       loops over literals
 *   names.js          what names mean
 *   node-modules.js   what only the runner of containers tells the check
 */
'use strict'
const { CertainCode } = require('./certain-code.js')
const { Names } = require('./names.js')
const { Scan } = require('./scan.js')
const { CellStop } = require('../program/errors.js')

const MAXIMUM_CHARACTERS = 32 * 1024

class CellCheck {
  /**
   * @param program what the check asks the runner about the program:
   *   `readGlobals()`: as program/globals.js returns it
   *   `lexicalNames()`: the names of variables that are no properties of the global object
   *   `isPackage(module)`: whether an import of it may define globals
   *   `hintFor(name)`: a sentence about an undefined name that is defined elsewhere, if there is one
   */
  constructor(program) {
    this.program = program
    this.signatures = new Map() // of tools, by their names
    this.isOpen = false // cells of the session may define names in ways that are not seen
    this.hasPackages = false // cells of the session have imported modules that may define globals
  }

  setTools(signatures) {
    for (const signature of signatures) this.signatures.set(signature.name, signature)
  }

  /**
   * @param tree the syntax tree; undefined for code that was not parsed
   * @throws CellStop with the findings
   */
  check(tree, source, isEnabled) {
    let findings = { found: [] }
    try {
      const isChecked = isEnabled && !this.isOpen && tree !== undefined && source.length <= MAXIMUM_CHARACTERS
      if (isChecked) {
        const scan = new Scan(tree, this.program.isPackage)
        const names = new Names(this.program, scan.declared)
        findings = new CertainCode(this, scan, names).findings()
        if (findings.found.length === 0) this.#note(scan, names)
      } else this.isOpen = true
    } catch {
      this.isOpen = true // invariant 3
    }
    if (findings.found.length > 0) throw new CellStop('code_error', textOf(findings, source))
  }

  /** Notes what the cell, which is going to run, may do to the names of later cells. */
  #note(scan, names) {
    this.isOpen = scan.hasStops || [...scan.assigned].some((name) => !names.isVariable(name))
    this.hasPackages ||= this.isOpen || scan.hasPackages
  }
}

function textOf({ found, hasMore }, source) {
  const lines = found.map(({ start, text }) => {
    const line = source.slice(0, start).split(/\r\n|[\n\r\u2028\u2029]/).length
    return `line ${line}: ${text}`
  })
  const title = 'The code was checked before it ran, and nothing of it was executed:'
  return [title, ...lines, ...(hasMore ? ['and more'] : [])].join('\n').toWellFormed()
}

module.exports = { CellCheck }
