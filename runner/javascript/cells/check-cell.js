/*
 * Finds mistakes in a cell before it runs, so that a cell with a mistake has no effect.
 *
 * Owns: which mistakes are certain, and their text.
 * Boundary: reads the syntax tree, and the names of variables. It executes nothing of the cell.
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
 */
'use strict'
const { isBuiltin } = require('node:module')
const { describeParameters, describeMissing } = require('../program/tools.js')
const { CellStop } = require('../program/errors.js')
const { namesOf, nodesOf } = require('./normalise.js')

const MAXIMUM_CHARACTERS = 64 * 1024
const MAXIMUM_FINDINGS = 10
const MAXIMUM_FINDING_CHARACTERS = 500
const MAXIMUM_CANDIDATES = 2_000 // names among which the nearest one is looked for

/** Names, members and texts that define names or change what a name means, or end the cell without an error. */
const STOP_WORDS = new Set(
  `eval Function globalThis global constructor prototype runInThisContext runInContext compileFunction createRequire
  exit reallyExit abort kill`.split(/\s+/),
)
/** Modules of Node.js that do the same. */
const STOP_MODULES = new Set(['vm', 'repl', 'module', 'inspector', 'test'])
const COMPARISONS_OF_KIND = new Set(['in', 'instanceof'])
const OPERATORS_OF_ANY_VALUE = new Set(['typeof', 'void', 'delete'])
const LOOPS = new Set(['ForStatement', 'ForInStatement', 'ForOfStatement', 'WhileStatement', 'DoWhileStatement'])
const isFunction = ({ type }) => /Function/.test(type)
const isScope = ({ type }) => /Function|^Class/.test(type)
const isIdentifier = (node) => node?.type === 'Identifier'
const { Promise: ProgramPromise } = programGlobal

class CellCheck {
  /** @param lexicalNames returns the names of variables that are no properties of the global object */
  constructor(lexicalNames) {
    this.lexicalNames = lexicalNames
    this.tools = new Map() // name -> { signature, call }
    this.isOpen = false // cells of the session may define names in ways that are not seen
    this.hasPackages = false // cells of the session have imported modules that are not Node's own
  }

  setTools(signatures) {
    for (const signature of signatures) {
      const { name } = signature
      this.tools.set(name, { signature, call: globalValue(name) })
    }
  }

  /**
   * @param program the syntax tree; undefined for code that was not parsed
   * @throws CellStop with the findings
   */
  check(program, source, isEnabled) {
    let findings = []
    try {
      const isChecked = isEnabled && !this.isOpen && program !== undefined && source.length <= MAXIMUM_CHARACTERS
      const scan = isChecked ? new Scan(program) : undefined
      const names = new Names(this, scan)
      if (scan) findings = new CertainCode(this, scan, names).findings()
      if (findings.length === 0) {
        this.isOpen = !scan || scan.stops.length > 0 || [...scan.assigned].some((name) => !names.isVariable(name))
        this.hasPackages ||= this.isOpen || scan.hasPackages
      }
    } catch {
      this.isOpen = true // invariant 3
    }
    if (findings.length > 0) throw new CellStop('code_error', textOf(findings, source))
  }
}

function globalValue(name) {
  return Object.getOwnPropertyDescriptor(programGlobal, name)?.value
}

/** What the whole of a cell contains, in all of its scopes. */
class Scan {
  constructor(program) {
    this.program = program
    this.declared = new Map() // name -> number of declarations and assignments
    this.assigned = new Set() // without a declaration
    this.stops = [] // places of code that ends the check
    this.hasPackages = false
    const assigned = []
    for (const { node } of nodesOf(program, () => true)) this.#add(node, assigned)
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
    for (const { node } of nodesOf(program, ({ type }) => !/^Class/.test(type)))
      if (node.type === 'ThisExpression') this.stops.push(node.start)
  }

  mayStop({ start, end }) {
    return this.stops.some((place) => start <= place && place < end)
  }
}

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

/** Nothing after this place is certain. */
class Stop extends Error {}

/** Walks through the certain code of a cell in the order of its execution, and collects findings. */
class CertainCode {
  #check
  #scan
  #names
  #functions = new Map() // name -> its definition, of functions that are certain to be what the name means
  #entered = new Set()
  #found = new Map()

  constructor(check, scan, names) {
    this.#check = check
    this.#scan = scan
    this.#names = names
  }

  findings() {
    try {
      this.#body(this.#scan.program.body)
    } catch (error) {
      if (!(error instanceof Stop)) throw error
    }
    return [...this.#found.values()].sort((one, other) => one.start - other.start)
  }

  #add({ start }, text) {
    this.#found.set(`${start} ${text}`, { start, text })
  }

  // -- statements

  #body(statements) {
    for (const statement of statements) if (statement.type === 'FunctionDeclaration') this.#define(statement.id, statement)
    for (const statement of statements) {
      if (this.#scan.mayStop(statement)) throw new Stop()
      this.#statement(statement)
      if (mayLeave(statement)) return
    }
  }

  #define(id, definition) {
    if (isIdentifier(id) && this.#scan.declared.get(id.name) === 1 && !definition.generator)
      this.#functions.set(id.name, definition)
  }

  #statement(node) {
    switch (node.type) {
      case 'ExpressionStatement': {
        const tool = this.#toolOf(node.expression)
        if (tool) this.#arguments(node.expression, tool) // its rejection is an error of the cell
        return this.#expression(node.expression)
      }
      case 'VariableDeclaration':
        return node.declarations.forEach((each) => this.#declarator(each))
      case 'BlockStatement':
        return this.#body(node.body)
      case 'ReturnStatement':
        return this.#expression(node.argument)
      case 'ThrowStatement':
        this.#expression(node.argument)
        throw new Stop()
      case 'IfStatement':
        return this.#operand(node.test)
      case 'SwitchStatement':
        return this.#operand(node.discriminant)
      case 'WhileStatement':
        this.#operand(node.test)
        return node.test.type === 'Literal' && node.test.value ? this.#statement(node.body) : undefined
      case 'ForStatement':
        return this.#for(node)
      case 'ForInStatement':
        return this.#operand(node.right)
      case 'ForOfStatement':
        this.#operand(node.right)
        return isFilled(node.right) ? this.#statement(node.body) : undefined
      case 'ClassDeclaration':
        return this.#expression(node.superClass)
      case 'ExportNamedDeclaration':
      case 'ExportDefaultDeclaration':
        return node.declaration && this.#exported(node.declaration)
    }
  }

  #exported(declaration) {
    if (declaration.type === 'FunctionDeclaration') this.#define(declaration.id, declaration)
    else if (/(Declaration|Statement)$/.test(declaration.type)) this.#statement(declaration)
    else this.#expression(declaration)
  }

  #declarator({ id, init }) {
    if (!init) return
    if (id.type === 'ArrayPattern' || (id.type === 'ObjectPattern' && id.properties.some((each) => isUnknownKey(each))))
      this.#operand(init)
    else this.#expression(init)
    if (isFunction(init)) this.#define(id, init)
  }

  #for({ init, test, body }) {
    if (init?.type === 'VariableDeclaration') this.#statement(init)
    else this.#expression(init)
    if (test) this.#operand(test)
    if (isTrueAtFirst(init, test)) this.#statement(body)
  }

  // -- expressions

  /** The value of this expression is used as something that a promise is not. */
  #operand(node) {
    const tool = this.#toolOf(node)
    if (tool) {
      const { name } = tool
      this.#add(node, `${name}() is called but not awaited: write \`await ${name}(...)\`.`)
      this.#arguments(node, tool)
    }
    this.#expression(node)
  }

  #expressions(nodes) {
    for (const node of nodes) this.#expression(node)
  }

  #expression(node) {
    if (!node) return
    switch (node.type) {
      case 'Identifier':
        return this.#name(node)
      case 'Literal':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
      case 'ThisExpression':
      case 'MetaProperty':
      case 'Super':
      case 'YieldExpression':
        return
      case 'ClassExpression':
        return this.#expression(node.superClass)
      case 'AwaitExpression':
        this.#run(node.argument)
        return this.#expression(node.argument)
      case 'CallExpression':
      case 'NewExpression':
        return this.#call(node)
      case 'ChainExpression':
        return this.#chain(node.expression)
      case 'MemberExpression':
        return this.#member(node)
      case 'ObjectExpression':
        return node.properties.forEach((each) => this.#property(each))
      case 'ArrayExpression':
      case 'SequenceExpression':
        return this.#expressions(node.elements ?? node.expressions)
      case 'SpreadElement':
        return this.#operand(node.argument)
      case 'TemplateLiteral':
        return node.expressions.forEach((each) => this.#operand(each))
      case 'TaggedTemplateExpression':
        this.#expression(node.tag)
        return this.#expressions(node.quasi.expressions)
      case 'UnaryExpression':
        return this.#unary(node)
      case 'BinaryExpression':
        for (const each of [node.left, node.right])
          if (COMPARISONS_OF_KIND.has(node.operator)) this.#expression(each)
          else this.#operand(each)
        return
      case 'LogicalExpression':
        return this.#expression(node.left)
      case 'ConditionalExpression':
        return this.#operand(node.test)
      case 'AssignmentExpression':
        if (node.left.type === 'MemberExpression') this.#member(node.left)
        return node.operator === '=' ? this.#expression(node.right) : undefined
      case 'UpdateExpression':
        return this.#expression(node.argument)
      case 'ImportExpression':
        return this.#expression(node.source)
    }
  }

  #name(node) {
    const { name } = node
    if (this.#check.hasPackages || this.#scan.hasPackages || name === 'arguments' || this.#names.isDefined(name)) return
    this.#add(node, `ReferenceError: ${name} is not defined.${this.#nameHint(name)}`)
  }

  #nameHint(name) {
    const tool = nearest(name, [...this.#check.tools.keys()])
    if (tool !== undefined) return ` Did you mean the tool ${tool}()?`
    if (isBuiltin(name)) return ` Write \`import ${name} from 'node:${name}'\`.`
    const near = nearest(name, this.#names.all())
    return near === undefined ? '' : ` Did you mean ${near}?`
  }

  /** `value` is an expression whose promise is awaited. */
  #run(value) {
    const tool = this.#toolOf(value)
    if (tool) return this.#arguments(value, tool)
    if (value.type !== 'CallExpression') return
    if (this.#isMethodOf(value, 'Promise', ['all'])) return this.#runAll(value.arguments[0])
    const called = this.#functionOf(value.callee)
    if (called?.async) this.#enter(called, value)
  }

  #runAll(list) {
    if (list?.type === 'ArrayExpression') list.elements.forEach((each) => each && this.#run(each))
    const callback = callbackOfMap(list)
    if (!callback) return
    if (callback.body.type !== 'BlockStatement') this.#run(callback.body)
    else if (callback.async) this.#enter(callback, list)
  }

  /** Goes through the body of a function, the first time that it is called. */
  #enter(definition, call) {
    if (this.#entered.has(definition)) return
    this.#entered.add(definition)
    this.#expressions(call.arguments)
    if (definition.body.type === 'BlockStatement') this.#body(definition.body.body)
    else this.#expression(definition.body)
  }

  #functionOf(callee) {
    if (isFunction(callee)) return callee.generator ? undefined : callee
    return isIdentifier(callee) ? this.#functions.get(callee.name) : undefined
  }

  #call(node) {
    const { callee, arguments: given } = node
    this.#expression(callee)
    if (this.#isMethodOf(node, 'console', ['log', 'info', 'warn', 'error']) || this.#isMethodOf(node, 'JSON', ['stringify']))
      given.forEach((each) => this.#operand(each))
    else this.#expressions(given)
    const called = node.type === 'CallExpression' ? this.#functionOf(callee) : undefined
    if (called && !called.async) this.#enter(called, node)
  }

  /** Of `a?.b.c(d)`, only `a` is certain to be evaluated. */
  #chain(node) {
    let first
    for (let each = node; each; each = each.callee ?? each.object) if (each.optional) first = each
    this.#expression(first?.callee ?? first?.object)
  }

  #member({ object, property, computed }) {
    const key = computed ? property.value : property.name
    if (key !== undefined && !isKeyOfPromise(key)) this.#operand(object)
    else this.#expression(object)
    if (computed) this.#expression(property)
  }

  #property({ type, argument, key, value, computed }) {
    if (type === 'SpreadElement') return this.#operand(argument)
    if (computed) this.#expression(key)
    this.#expression(value)
  }

  #unary({ operator, argument }) {
    // `typeof` and `delete` of an undefined name are no errors.
    if (isIdentifier(argument) && operator !== 'void' && OPERATORS_OF_ANY_VALUE.has(operator)) return
    if (OPERATORS_OF_ANY_VALUE.has(operator)) this.#expression(argument)
    else this.#operand(argument)
  }

  // -- what an expression is

  /** Returns the signature of the tool that this expression calls; undefined for every other expression. */
  #toolOf(node) {
    if (node?.type !== 'CallExpression' || node.optional || !isIdentifier(node.callee)) return undefined
    const { name } = node.callee
    const tool = this.#check.tools.get(name)
    if (!tool || tool.call === undefined || globalValue(name) !== tool.call) return undefined
    return this.#names.isOriginal(name) ? tool.signature : undefined
  }

  #isMethodOf({ callee }, object, methods) {
    return (
      callee.type === 'MemberExpression' &&
      !callee.computed &&
      callee.object.name === object &&
      methods.includes(callee.property.name) &&
      this.#names.isOriginal(object)
    )
  }

  // -- arguments

  #arguments(call, signature) {
    const { name, parameters, required, open } = signature
    const given = call.arguments
    if (given.some(({ type }) => type === 'SpreadElement')) return
    const [input] = given
    if (given.length > 1 || (input && isNoObject(input)))
      return this.#add(call, `TypeError: ${name}() takes one object with its arguments: ${describeParameters(signature)}`)
    if (input && input.type !== 'ObjectExpression') return
    const members = input?.properties ?? []
    if (members.some(({ type, computed, key }) => type === 'SpreadElement' || computed || keyOf(key) === '__proto__')) return
    const passed = new Set(members.filter(({ value }) => value.name !== 'undefined').map(({ key }) => keyOf(key)))
    if (passed.has('toJSON')) return
    const missing = required.filter((parameter) => !passed.has(parameter))
    if (missing.length > 0) this.#add(call, `TypeError: ${describeMissing(signature, missing)}`)
    if (open) return
    for (const { key, value } of members) {
      const parameter = keyOf(key)
      // A member that is undefined is not sent.
      if (parameters.includes(parameter) || (missing.length === 0 && mayBeUndefined(value))) continue
      const near = nearest(parameter, parameters)
      const hint = near === undefined ? '' : ` Did you mean ${near}?`
      this.#add(call, `${name}() has no argument "${parameter}"; it takes ${describeParameters(signature)}.${hint}`)
    }
  }
}

const keyOf = ({ name, value }) => name ?? String(value)

function mayBeUndefined({ type }) {
  return !/^(Literal|TemplateLiteral|ArrayExpression|ObjectExpression)$/.test(type)
}

/** Values that are no object with arguments. Of a text or number, not even JSON is. */
function isNoObject({ type, regex }) {
  return (type === 'Literal' && !regex) || type === 'TemplateLiteral' || type === 'ArrayExpression'
}

function isKeyOfPromise(key) {
  return key in ProgramPromise.prototype
}

function isUnknownKey({ type, computed, key }) {
  return type === 'Property' && !computed && !isKeyOfPromise(keyOf(key))
}

/** A literal with at least one element. */
function isFilled(node) {
  if (node.type === 'Literal') return typeof node.value === 'string' && node.value.length > 0
  return node.type === 'ArrayExpression' && node.elements.some((each) => each?.type !== 'SpreadElement')
}

/** `for (let i = 0; i < 3; …)` */
function isTrueAtFirst(init, test) {
  if (!test) return true
  const [first, ...others] = init?.type === 'VariableDeclaration' ? init.declarations : []
  if (!isIdentifier(first?.id) || others.length > 0 || test.type !== 'BinaryExpression') return false
  const [from, to] = [first.init?.value, test.right.value]
  if (test.left.name !== first.id.name || typeof from !== 'number' || typeof to !== 'number') return false
  return test.operator === '<' ? from < to : test.operator === '<=' && from <= to
}

/** The function of `['a', 'b'].map(…)`. */
function callbackOfMap(node) {
  if (node?.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return undefined
  const { callee, arguments: given } = node
  const isMap = !callee.computed && callee.property.name === 'map' && callee.object.type === 'ArrayExpression'
  return isMap && isFilled(callee.object) && given[0]?.type === 'ArrowFunctionExpression' ? given[0] : undefined
}

/** May this statement leave the block that it is in, without an error? */
function mayLeave(statement) {
  const { type } = statement
  const leaves = LOOPS.has(type) ? /^Return/ : type === 'SwitchStatement' ? /^(Return|Continue)/ : /^(Return|Break|Continue)/
  return (
    !isScope(statement) && nodesOf(statement, (node) => !isScope(node)).some(({ node }) => leaves.test(node.type))
  )
}

function nearest(name, candidates) {
  const limit = Math.min(2, Math.floor(name.length / 3))
  let best
  let bestDistance = limit + 1
  for (const each of candidates.slice(0, MAXIMUM_CANDIDATES).sort()) {
    if (Math.abs(each.length - name.length) > limit || each.startsWith('__ptc_')) continue
    const distance = each.toLowerCase() === name.toLowerCase() ? 0 : distanceOf(name, each)
    if (distance < bestDistance) [best, bestDistance] = [each, distance]
  }
  return best
}

/** The number of letters to insert, remove or replace. */
function distanceOf(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= other.length; j += 1)
      next.push(Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1)))
    row = next
  }
  return row[other.length]
}

function textOf(findings, source) {
  const lines = findings.slice(0, MAXIMUM_FINDINGS).map(({ start, text }) => {
    const line = source.slice(0, start).split(/\r\n|[\n\r\u2028\u2029]/).length
    return `line ${line}: ${text.length > MAXIMUM_FINDING_CHARACTERS ? `${text.slice(0, MAXIMUM_FINDING_CHARACTERS)}...` : text}`
  })
  const others = findings.length - MAXIMUM_FINDINGS
  if (others > 0) lines.push(`and ${others} more`)
  return ['The code was checked before it ran, and nothing of it was executed:', ...lines].join('\n').toWellFormed()
}

module.exports = { CellCheck }
