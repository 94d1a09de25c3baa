/*
 * Rewrites the top level of a cell, so that a later cell may declare a name again, in any form, and so that static
 * imports work. Variables are declared with the keyword of the engine: V8 keeps `let` from cell to cell, in its REPL
 * mode; QuickJS keeps `var`, so there only the functions have to be hoisted.
 *
 * Lines and, apart from functions, imports and the first line, columns stay as they are, so errors point into the code of the author.
 *
 * | written                           | evaluated                                                            |
 * |-----------------------------------|----------------------------------------------------------------------|
 * | `const a = 1`                     | `let   a = 1`                                                        |
 * | `var a = 1`, also in a block      | `    a = 1`, and `let a;` at the start: it is hoisted                |
 * | `class A {}`                      | `let A=class A {};`                                                  |
 * | `function f() {}`                 | `function f$N() {}`, and `let f=…` at the start: functions are hoisted |
 * | `import d, { a as b } from 'm'`   | `const { default: d, a: b } = await import('m')`                     |
 * | `import('m')`, `import.meta`      | of the folder of the program, not of the runner                      |
 * | `export const a = 1`              | `let a = 1`                                                          |
 */
'use strict'
const { IMPORT, META, NAME } = require('./names.js')

/**
 * Returns the code for the engine.
 *
 * @param program what `parseProgram` made of the source
 * @param keyword `let` or `var`
 */
function normalise(source, number, program, keyword = 'let') {
  const edits = []
  const hoisted = new Map() // the declaration of each function and `var`, by its name: the last one counts
  const replace = (start, end, text) => edits.push({ start, end, text })
  for (const { start, end, type } of importsOf(program)) {
    if (type === 'ImportExpression') replace(start, start + 'import'.length, IMPORT)
    else replace(start, end, META.padEnd(end - start))
  }
  for (const { declaration, isInHead } of keyword === 'let' ? varsOf(program) : []) {
    const { start, declarations } = declaration
    for (const { id } of declarations) for (const name of namesOf(id)) hoisted.set(name, `let ${name};`)
    // A statement that begins with a brace is a block.
    const isBlock = !isInHead && declarations[0].id.type === 'ObjectPattern'
    replace(start, start + 'var'.length, isBlock ? 'void 0,' : '   ')
  }
  for (const statement of program.body) rewrite(statement, { source, number, keyword, replace, hoisted })
  const body = applyEdits(source, edits)
  // A directive stays the first statement.
  return hoisted.size === 0 ? body : insertAfterDirectives(body, [...hoisted.values()].join(''), program)
}

/** Edits at one place stay in their order, insertions before a replacement. */
function applyEdits(source, edits) {
  edits.sort((one, other) => one.start - other.start || one.end - other.end)
  let position = 0
  const parts = edits.map(({ start, end, text }) => {
    const part = source.slice(position, start) + text
    position = end
    return part
  })
  return parts.join('') + source.slice(position)
}

/** Each `import(…)` and `import.meta` anywhere in the program. */
function* importsOf(program) {
  for (const { node } of nodesOf(program, () => true))
    if (node.type === 'ImportExpression' || (node.type === 'MetaProperty' && node.meta.name === 'import')) yield node
}

/** Each `var` of the program itself, also in its blocks and in heads of its loops. */
function* varsOf(program) {
  const isOwn = ({ type }) => !/Function|^Class/.test(type)
  for (const { node, parent } of nodesOf(program, isOwn))
    if (node.type === 'VariableDeclaration' && node.kind === 'var')
      yield { declaration: node, isInHead: parent.init === node || parent.left === node }
}

/**
 * The nodes of a program with their parents, without what is in a node that is not entered. They are not collected: a
 * megabyte of source has a million.
 */
function* nodesOf(program, isEntered) {
  const stack = [{ node: program, parent: program }]
  while (stack.length > 0) {
    const next = stack.pop()
    const { node, parent } = next
    if (Array.isArray(node)) for (const each of node) stack.push({ node: each, parent })
    else if (node && typeof node === 'object' && typeof node.type === 'string' && isEntered(node)) {
      yield next
      for (const key in node) if (key !== 'loc' && key !== 'range') stack.push({ node: node[key], parent: node })
    }
  }
}

/** The names that a pattern declares. */
function namesOf(pattern) {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern.name]
    case 'ObjectPattern':
      return pattern.properties.flatMap((each) => namesOf(each.type === 'Property' ? each.value : each))
    case 'ArrayPattern':
      return pattern.elements.flatMap(namesOf)
    case 'AssignmentPattern':
      return namesOf(pattern.left)
    case 'RestElement':
      return namesOf(pattern.argument)
    default:
      return [] // a hole of an array
  }
}

function rewrite(statement, context) {
  const { source, number, keyword, replace, hoisted } = context
  const { type, start, end } = statement
  if (type === 'VariableDeclaration') {
    const { kind, declarations } = statement
    if (kind === 'const' || (kind === 'let' && keyword === 'var'))
      replace(start, start + kind.length, keyword.padEnd(kind.length))
    // `var` alone would keep the value of an earlier cell.
    if (kind === 'let' && keyword === 'var')
      for (const { end: position, init } of declarations) if (init === null) replace(position, position, '=void 0')
  } else if (type === 'ClassDeclaration') {
    replace(start, start, `${keyword} ${statement.id.name}=`)
    replace(end, end, ';')
  } else if (type === 'FunctionDeclaration') {
    const { name } = statement.id
    replace(statement.id.start, statement.id.end, `${name}$${number}`)
    hoisted.set(name, `${keyword} ${name}=${NAME}(${name}$${number},${JSON.stringify(name)});`)
  } else if (type === 'ImportDeclaration') replace(start, end, importCode(statement, source, keyword))
  else if (type === 'ExportNamedDeclaration' && statement.declaration) {
    replace(start, statement.declaration.start, ' '.repeat(statement.declaration.start - start))
    rewrite(statement.declaration, context)
  } else if (type === 'ExportNamedDeclaration' || type === 'ExportAllDeclaration')
    replace(start, end, blank(source, start, end))
  else if (type === 'ExportDefaultDeclaration') {
    const { declaration } = statement
    // Without semicolons, the value would be arguments of the code before it, and a callee of the code after it.
    replace(start, declaration.start, ';'.padEnd(declaration.start - start))
    if (declaration.id) return rewrite(declaration, context)
    replace(declaration.start, declaration.start, '(')
    replace(declaration.end, declaration.end, declaration.end === end ? ');' : ')')
  }
}

/** As many line breaks as the declaration had. */
function importCode({ start, end, specifiers, source: { raw } }, source, keyword) {
  const lines = source.slice(start, end).split('\n').length - 1
  const loaded = `await ${IMPORT}(${raw})`
  const names = specifiers.flatMap(({ type, local, imported }) => {
    if (type === 'ImportNamespaceSpecifier') return []
    const key = type === 'ImportDefaultSpecifier' ? 'default' : (imported.name ?? imported.value)
    return [`${JSON.stringify(key)}:${local.name}`]
  })
  const namespace = specifiers.find(({ type }) => type === 'ImportNamespaceSpecifier')
  const code = [
    ...(namespace ? [`${keyword} ${namespace.local.name}=${loaded};`] : []),
    ...(names.length > 0 ? [`${keyword} {${names.join(',')}}=${namespace ? namespace.local.name : loaded};`] : []),
  ]
  return (code.length === 0 ? `${loaded};` : code.join('')) + '\n'.repeat(lines)
}

function blank(source, start, end) {
  return source.slice(start, end).replace(/[^\n]/g, ' ')
}

function insertAfterDirectives(body, text, { body: statements }) {
  const directives = statements.filter(({ directive }) => directive !== undefined)
  const end = directives.at(-1)?.end ?? 0
  const hashBang = end === 0 ? (/^#!.*/.exec(body)?.[0].length ?? 0) : 0
  // A hash bang ends with its line.
  const position = hashBang > 0 ? body.indexOf('\n') + 1 || body.length : end
  return `${body.slice(0, position)}${position > 0 ? ';' : ''}${text}${body.slice(position)}`
}

module.exports = { namesOf, nodesOf, normalise }
