/* Walks through the certain code of a cell in the order of its execution, and collects findings. */
'use strict'
const { keyOf, nearest, problemsOfArguments } = require('./arguments.js')
const { callbackOfMap, isFilled, isTrueAtFirst } = require('./literals.js')

const MAXIMUM_FINDINGS = 10
const MAXIMUM_FINDING_CHARACTERS = 500
const COMPARISONS_OF_KIND = new Set(['in', 'instanceof'])
const OPERATORS_OF_ANY_VALUE = new Set(['typeof', 'void', 'delete'])
const isFunction = ({ type }) => type.includes('Function')
const isIdentifier = (node) => node?.type === 'Identifier'

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

  /** Returns findings in the order of the source, and whether there may be more. */
  findings() {
    try {
      this.#body(this.#scan.program.body)
    } catch (error) {
      if (!(error instanceof Stop)) throw error
    }
    const found = [...this.#found.values()].slice(0, MAXIMUM_FINDINGS)
    return { found: found.sort((one, other) => one.start - other.start), hasMore: this.#found.size > MAXIMUM_FINDINGS }
  }

  #add({ start }, text) {
    const shown = text.length > MAXIMUM_FINDING_CHARACTERS ? `${text.slice(0, MAXIMUM_FINDING_CHARACTERS)}...` : text
    this.#found.set(`${start} ${shown}`, { start, text: shown })
    if (this.#found.size > MAXIMUM_FINDINGS) throw new Stop()
  }

  // -- statements

  #body(statements) {
    for (const statement of statements)
      if (statement.type === 'FunctionDeclaration') this.#define(statement.id, statement)
    for (const statement of statements) {
      if (this.#scan.mayStop(statement)) throw new Stop()
      this.#statement(statement)
      if (this.#scan.mayLeave(statement)) return
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
        // Its rejection is an error of the cell, unless the cell ends before.
        if (tool && !this.#scan.hasStops) this.#arguments(node.expression, tool)
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
    if (
      id.type === 'ArrayPattern' ||
      (id.type === 'ObjectPattern' && id.properties.some((each) => this.#isOther(each)))
    )
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
    const tool = nearest(name, [...this.#check.signatures.keys()])
    if (tool !== undefined) return ` Did you mean the tool ${tool}()?`
    const hint = this.#check.program.hintFor(name)
    if (hint !== undefined) return ` ${hint}`
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
    if (
      this.#isMethodOf(node, 'console', ['log', 'info', 'warn', 'error']) ||
      this.#isMethodOf(node, 'JSON', ['stringify'])
    )
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
    if (key !== undefined && !this.#names.isMemberOfPromises(key)) this.#operand(object)
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

  #arguments(call, signature) {
    for (const problem of problemsOfArguments(call, signature)) this.#add(call, problem)
  }

  // -- what an expression is

  /** Returns the signature of the tool that this expression calls; undefined for every other expression. */
  #toolOf(node) {
    if (node?.type !== 'CallExpression' || node.optional || !isIdentifier(node.callee)) return undefined
    const { name } = node.callee
    return this.#names.isTool(name) ? this.#check.signatures.get(name) : undefined
  }

  /** Does this part of a pattern read a member that promises lack? */
  #isOther({ type, computed, key }) {
    return type === 'Property' && !computed && !this.#names.isMemberOfPromises(keyOf(key))
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
}

module.exports = { CertainCode }
