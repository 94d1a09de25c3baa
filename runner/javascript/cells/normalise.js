/*
 * Rewrites the top level of a cell, so that a later cell may declare a name again, in any form, and so that static
 * imports work. V8 evaluates the result in its REPL mode, which keeps `let` from cell to cell.
 *
 * Lines and, apart from functions and imports, columns stay as they are, so errors point into the code of the author.
 *
 * | written                           | evaluated                                                            |
 * |-----------------------------------|----------------------------------------------------------------------|
 * | `const a = 1`, `var a = 1`        | `let   a = 1`                                                        |
 * | `class A {}`                      | `let A=class A {}`                                                   |
 * | `function f() {}`                 | `function f$N() {}`, and `let f=…` at the start: functions are hoisted |
 * | `import d, { a as b } from 'm'`   | `const { default: d, a: b } = await import('m')`                     |
 * | `import('m')`                     | resolved from the folder of the program, not of the runner           |
 * | `export const a = 1`              | `let a = 1`                                                          |
 */
'use strict'
const { IMPORT, NAME } = require('../program/imports.js')
const { parse } = require('../vendor/acorn.js')

/** Parsing takes about a second for a megabyte. Larger code is evaluated as it is. */
const MAXIMUM_CHARACTERS = 512 * 1024

const options = {
  ecmaVersion: 'latest',
  sourceType: 'module',
  allowAwaitOutsideFunction: true,
  allowHashBang: true,
}

/**
 * Returns the code for V8.
 *
 * @throws SyntaxError of the parser, with `loc`
 */
function normalise(source, number) {
  if (source.length > MAXIMUM_CHARACTERS) return source
  const imports = []
  const program = parseProgram(source, imports)
  const edits = []
  const hoisted = new Map() // the declaration of each function, by its name: the last one counts
  const declared = new Set()
  const replace = (start, end, text) => edits.push({ start, end, text })
  for (const { start } of imports) replace(start, start + 'import'.length, IMPORT)
  for (const statement of program.body) rewrite(statement, { source, number, replace, hoisted, declared })
  edits.sort((one, other) => other.start - one.start || other.end - one.end)
  const body = edits.reduce((code, { start, end, text }) => code.slice(0, start) + text + code.slice(end), source)
  // A directive stays the first statement.
  return hoisted.size === 0 ? body : insertAfterDirectives(body, [...hoisted.values()].join(''), program)
}

/** The code of models is a module, or a script that a module refuses, such as one with `with` or octal numbers. */
function parseProgram(source, imports) {
  const onImport = (type) => (node) => imports.push({ type, start: node.start })
  const collect = (parsed) => {
    walkImports(parsed, onImport('call'))
    return parsed
  }
  try {
    return collect(parse(source, options))
  } catch (error) {
    try {
      return collect(parse(source, { ...options, sourceType: 'script' }))
    } catch {
      throw error
    }
  }
}

/** Calls back for each `import(…)` anywhere in the program. */
function walkImports(node, callback) {
  const stack = [node]
  while (stack.length > 0) {
    const next = stack.pop()
    if (Array.isArray(next)) for (const each of next) stack.push(each)
    else if (next && typeof next === 'object' && typeof next.type === 'string') {
      if (next.type === 'ImportExpression') callback(next)
      for (const key in next) if (key !== 'loc' && key !== 'range') stack.push(next[key])
    }
  }
}

function rewrite(statement, context) {
  const { source, number, replace, hoisted, declared } = context
  const { type, start, end } = statement
  if (type === 'VariableDeclaration') {
    const { kind, declarations } = statement
    const names = declarations.map(({ id }) => id.name)
    // A second `var` of a name is an assignment.
    const isRepeated = kind === 'var' && names.every((name) => declared.has(name))
    for (const name of names) declared.add(name)
    if (kind === 'const' || kind === 'var')
      replace(start, start + kind.length, (isRepeated ? '' : 'let').padEnd(kind.length))
  } else if (type === 'ClassDeclaration') replace(start, start, `let ${statement.id.name}=`)
  else if (type === 'FunctionDeclaration') {
    const { name } = statement.id
    replace(statement.id.start, statement.id.end, `${name}$${number}`)
    hoisted.set(name, `let ${name}=${NAME}(${name}$${number},${JSON.stringify(name)});`)
    declared.add(name)
  } else if (type === 'ImportDeclaration') replace(start, end, importCode(statement, source))
  else if (type === 'ExportNamedDeclaration' && statement.declaration) {
    replace(start, statement.declaration.start, ' '.repeat(statement.declaration.start - start))
    rewrite(statement.declaration, context)
  } else if (type === 'ExportNamedDeclaration' || type === 'ExportAllDeclaration')
    replace(start, end, blank(source, start, end))
  else if (type === 'ExportDefaultDeclaration') {
    const { declaration } = statement
    replace(start, declaration.start, ' '.repeat(declaration.start - start))
    if (declaration.id) return rewrite(declaration, context)
    replace(declaration.start, declaration.start, '(')
    replace(declaration.end, declaration.end, ')')
  }
}

/** As many line breaks as the declaration had. */
function importCode({ start, end, specifiers, source: { raw } }, source) {
  const lines = source.slice(start, end).split('\n').length - 1
  const loaded = `await ${IMPORT}(${raw})`
  const names = specifiers.flatMap(({ type, local, imported }) => {
    if (type === 'ImportNamespaceSpecifier') return []
    const key = type === 'ImportDefaultSpecifier' ? 'default' : (imported.name ?? imported.value)
    return [`${JSON.stringify(key)}:${local.name}`]
  })
  const namespace = specifiers.find(({ type }) => type === 'ImportNamespaceSpecifier')
  const code = [
    ...(namespace ? [`let ${namespace.local.name}=${loaded};`] : []),
    ...(names.length > 0 ? [`let {${names.join(',')}}=${namespace ? namespace.local.name : loaded};`] : []),
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

module.exports = { normalise }
