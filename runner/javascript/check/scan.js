/* What the whole of a cell contains, in all of its scopes: declarations of names, and code that ends the check. */
'use strict'
const { isBuiltin } = require('node:module')
const { namesOf, nodesOf } = require('../cells/normalise.js')

/** Names, members and texts that define names or change what a name means, or end the cell without an error. */
const STOP_WORDS = new Set(
  `eval Function globalThis global constructor prototype runInThisContext runInContext compileFunction createRequire
  exit reallyExit abort kill`.split(/\s+/),
)
/** Objects whose methods the check knows. */
const TRUSTED_OBJECTS = new Set(['console', 'JSON', 'Promise'])
const USES = new Set(['MemberExpression', 'NewExpression', 'BinaryExpression'])
/** Modules of Node.js that do the same. */
const STOP_MODULES = new Set(['vm', 'repl', 'module', 'inspector', 'test'])

/** What the whole of a cell contains, in all of its scopes. */
class Scan {
  constructor(program) {
    this.program = program
    this.declared = new Map() // name -> number of declarations and assignments
    this.assigned = new Set() // without a declaration
    this.stops = [] // places of code that ends the check
    this.hasPackages = false
    const assigned = []
    for (const { node, parent } of nodesOf(program, () => true)) {
      this.#add(node, assigned)
      if (mayReplaceMembers(node, parent)) this.stops.push(node.start)
    }
    for (const name of assigned) if (!this.declared.has(name)) this.assigned.add(name)
    for (const name of assigned) this.#declare(name)
    this.#addThis(program)
  }

  #declare(name) {
    this.declared.set(name, (this.declared.get(name) ?? 0) + 1)
  }

  #add(node, assigned) {
    const { type } = node
    const declare = (pattern) => namesOf(pattern).forEach((name) => this.#declare(name))
    const assign = (pattern) => assigned.push(...namesOf(pattern))
    if (type === 'VariableDeclarator') declare(node.id)
    else if (isScope(node)) [node.id, ...(node.params ?? [])].forEach(declare)
    else if (type === 'CatchClause') declare(node.param)
    else if (type === 'AssignmentExpression') assign(node.left)
    else if (type === 'UpdateExpression') assign(node.argument)
    else if (type === 'ForInStatement' || type === 'ForOfStatement') assign(node.left)
    else if (type === 'ImportDeclaration') {
      node.specifiers.forEach(({ local }) => declare(local))
      this.#addModule(node, node.source)
    } else if (type === 'ImportExpression') this.#addModule(node, node.source)
    else if (type === 'CallExpression' && node.callee.name === 'require') this.#addModule(node, node.arguments[0])
    else if (type === 'MemberExpression' || type === 'WithStatement') {
      if (type === 'WithStatement' || STOP_WORDS.has(node.property.name)) this.stops.push(node.start)
    } else if (type === 'ImportSpecifier' || type === 'Property') {
      const { name, value } = node.imported ?? node.key
      if (STOP_WORDS.has(name ?? value)) this.stops.push(node.start)
    } else if (type === 'Identifier') {
      // The name of a method `constructor` is no use of it.
      if (node.name !== 'constructor' && STOP_WORDS.has(node.name)) this.stops.push(node.start)
    } else if (type === 'Literal' && STOP_WORDS.has(node.value)) this.stops.push(node.start)
  }

  #addModule({ start }, source) {
    const name = source?.type === 'Literal' ? String(source.value) : ''
    if (!isBuiltin(name)) this.hasPackages = true
    if (STOP_MODULES.has(name.replace(/^node:/, '').split('/')[0])) this.stops.push(start)
  }

  /** `this` of code that is not strict is the global object. */
  #addThis(program) {
    for (const { node } of nodesOf(program, ({ type }) => !type.startsWith('Class')))
      if (node.type === 'ThisExpression') this.stops.push(node.start)
  }

  mayStop({ start, end }) {
    return this.stops.some((place) => start <= place && place < end)
  }
}

/** Does this code use one of these objects for more than a call of its methods? */
function mayReplaceMembers({ type, name, left }, { type: use }) {
  if (type === 'AssignmentExpression') return TRUSTED_OBJECTS.has(left.object?.name)
  return type === 'Identifier' && TRUSTED_OBJECTS.has(name) && !USES.has(use)
}

/** Functions and classes. */
function isScope({ type }) {
  return type.includes('Function') || type.startsWith('Class')
}

module.exports = { isScope, Scan }
