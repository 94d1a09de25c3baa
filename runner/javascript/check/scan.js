/* What the whole of a cell contains, in all of its scopes: declarations of names, and code that ends the check. */
'use strict'
const { namesOf, nodesOf } = require('../cells/normalise.js')

/** Names, members and texts that define names or change what a name means, or end the cell without an error. */
const STOP_WORDS = new Set(
  `eval Function globalThis global constructor prototype runInThisContext runInContext compileFunction createRequire
  exit reallyExit abort kill`.split(/\s+/),
)
/** Objects whose methods the check knows. */
const TRUSTED_OBJECTS = new Set(['console', 'JSON', 'Promise'])
const USES = new Set(['MemberExpression', 'NewExpression', 'BinaryExpression'])
const LOOPS = new Set(['ForStatement', 'ForInStatement', 'ForOfStatement', 'WhileStatement', 'DoWhileStatement'])
/** Modules of Node.js that do the same. */
const STOP_MODULES = new Set(['vm', 'repl', 'module', 'inspector', 'test'])

/** What the whole of a cell contains, in all of its scopes. */
class Scan {
  declared = new Map() // name -> number of declarations and assignments
  assigned = new Set() // names without a declaration
  hasPackages = false
  #parents = new Map()
  #stops = new Set() // code that ends the check, and all that contains it
  #returns = new Set() // code that may leave its function
  #jumps = new Set() // code that may leave its loop, or its switch

  /** @param isPackage whether an import may define globals */
  constructor(program, isPackage) {
    this.program = program
    this.isPackage = isPackage
    const assigned = []
    for (const { node, parent } of nodesOf(program, () => true)) {
      if (node !== program) this.#parents.set(node, parent)
      if (this.#add(node, assigned) || mayReplaceMembers(node, parent)) this.#mark(this.#stops, node)
      if (node.type === 'ReturnStatement' || (isJump(node) && node.label))
        this.#mark(this.#returns, node, (each) => isScope(each))
      else if (isJump(node)) this.#mark(this.#jumps, node, (each) => isLeftBy(each, node))
    }
    // `this` of code that is not strict is the global object.
    for (const { node } of nodesOf(program, ({ type }) => !type.startsWith('Class')))
      if (node.type === 'ThisExpression') this.#mark(this.#stops, node)
    for (const name of assigned) if (!this.declared.has(name)) this.assigned.add(name)
    for (const name of assigned) this.#declare(name)
  }

  get hasStops() {
    return this.#stops.size > 0
  }

  /** May this code define names in a way that is not seen, or end the cell without an error? */
  mayStop(node) {
    return this.#stops.has(node)
  }

  /** May this statement leave the block that it is in, without an error? */
  mayLeave(node) {
    return this.#returns.has(node) || this.#jumps.has(node)
  }

  #mark(set, node, isEnd = () => false) {
    for (let each = node; each && !set.has(each) && !isEnd(each); each = this.#parents.get(each)) set.add(each)
  }

  #declare(name) {
    this.declared.set(name, (this.declared.get(name) ?? 0) + 1)
  }

  /** Returns true for code that ends the check. */
  #add(node, assigned) {
    const { type } = node
    const declare = (pattern) => namesOf(pattern).forEach((name) => this.#declare(name))
    const assign = (pattern) => assigned.push(...namesOf(pattern))
    if (isScope(node)) [node.id, ...(node.params ?? [])].forEach(declare)
    switch (type) {
      case 'VariableDeclarator':
        declare(node.id)
        return false
      case 'CatchClause':
        declare(node.param)
        return false
      case 'AssignmentExpression':
      case 'ForInStatement':
      case 'ForOfStatement':
        assign(node.left)
        return false
      case 'UpdateExpression':
        assign(node.argument)
        return false
      case 'ImportDeclaration':
        node.specifiers.forEach(({ local }) => declare(local))
        return this.#addModule(node.source)
      case 'ImportExpression':
        return this.#addModule(node.source)
      case 'CallExpression':
        return node.callee.name === 'require' && this.#addModule(node.arguments[0])
      case 'WithStatement':
        return true
      case 'MemberExpression':
        return STOP_WORDS.has(node.property.name)
      case 'ImportSpecifier':
        return STOP_WORDS.has(node.imported.name)
      case 'Property':
        return STOP_WORDS.has(node.key.name)
      case 'Identifier':
        // The name of a method `constructor` is no use of it.
        return node.name !== 'constructor' && STOP_WORDS.has(node.name)
      case 'Literal':
        return STOP_WORDS.has(node.value)
      default:
        return false
    }
  }

  #addModule(source) {
    const name = source?.type === 'Literal' ? String(source.value) : ''
    if (this.isPackage(name)) this.hasPackages = true
    return STOP_MODULES.has(name.replace(/^node:/, '').split('/')[0])
  }
}

const isJump = ({ type }) => type === 'BreakStatement' || type === 'ContinueStatement'

/** Is it the loop or the switch that a jump without a label leaves? */
function isLeftBy({ type }, jump) {
  return LOOPS.has(type) || (type === 'SwitchStatement' && jump.type === 'BreakStatement')
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
