import type { JsonObject, JsonValue } from '../common/json.js'
import { constraintsOf } from './constraints.js'
import type { PythonClasses } from './python-classes.js'
import { commentText, docstringLines, isPythonIdentifier, pascalCase, pythonLiteral } from './python-text.js'
import { annotateDocument } from './python-types.js'
import { isSchemaObject } from './schema-document.js'

/** What a stub is made from. */
export interface StubSource {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly outputSchema: JsonObject
  readonly inputExamples: readonly JsonObject[]
}

interface Parameter {
  readonly name: string
  readonly schema: JsonValue
  readonly required: boolean
}

const lineCharacters = 120

/**
 * A tool as a Python function without a body: valid Python (3.11) and the same text every time. Classes it needs that are not
 * yet in `classes` come first.
 */
export function pythonStub(tool: StubSource, classes: PythonClasses): string {
  const baseName = pascalCase(tool.name) || 'Tool'
  const annotateInput = annotateDocument(tool.inputSchema, classes)
  const parameters = parametersOf(tool.inputSchema)
  // One that Python can't write as a keyword makes it a call with one dict.
  const byKeyword = parameters.every(({ name }) => isPythonIdentifier(name))
  const declared = byKeyword
    ? parameters.map((parameter) =>
        declare(parameter, annotateInput(parameter.schema, `${baseName}${pascalCase(parameter.name)}`)),
      )
    : [`arguments: ${annotateInput(tool.inputSchema, `${baseName}Arguments`)}`]
  const result = annotateDocument(tool.outputSchema, classes)(tool.outputSchema, `${baseName}Result`)
  const header = signature(tool.name, declared, result)
  return [...classes.take(), `${header}\n${docstring(documentationLines(tool, parameters, byKeyword))}`].join('\n\n')
}

/** Closed on a line of its own, unless it is one line and no quote of its text meets those that end it. */
function docstring(lines: readonly string[]): string {
  const [first = '', ...rest] = lines
  if (rest.length === 0 && !first.endsWith('"')) return `    """${first}"""`
  return [`    """${first}`, ...rest.map((line) => (line === '' ? '' : `    ${line}`)), '    """'].join('\n')
}

/** The arguments a call can have, those it must have first: the order of the stub, and of positional arguments. */
export function parametersOf(inputSchema: JsonObject): readonly Parameter[] {
  const { properties, required } = inputSchema
  const names: readonly JsonValue[] = Array.isArray(required) ? required : []
  const all = Object.entries(isSchemaObject(properties) ? properties : {}).map(([name, schema]) => ({
    name,
    schema,
    required: names.includes(name),
  }))
  return [...all.filter((one) => one.required), ...all.filter((one) => !one.required)]
}

function declare({ name, schema, required }: Parameter, annotation: string): string {
  if (required) return `${name}: ${annotation}`
  const fallback = isSchemaObject(schema) ? schema['default'] : undefined
  return `${name}: ${annotation} = ${fallback === undefined ? '...' : pythonLiteral(fallback)}`
}

function signature(name: string, parameters: readonly string[], result: string): string {
  const line = `async def ${name}(${parameters.join(', ')}) -> ${result}:`
  if (line.length <= lineCharacters || parameters.length === 0) return line
  return `async def ${name}(\n${parameters.map((parameter) => `    ${parameter},\n`).join('')}) -> ${result}:`
}

function documentationLines(tool: StubSource, parameters: readonly Parameter[], byKeyword: boolean): readonly string[] {
  const lines = docstringLines(tool.description)
  const described = parameters.map(describeParameter).filter((line) => line !== '')
  if (byKeyword && described.length > 0) lines.push('', 'Args:', ...described)
  if (!byKeyword) lines.push('', 'Takes one dict, because a name in it is no Python identifier.')
  const returns = tool.outputSchema['description']
  if (typeof returns === 'string') lines.push('', 'Returns:', ...docstringLines(returns).map((line) => `    ${line}`))
  if (tool.inputExamples.length > 0) {
    lines.push('', 'Examples:', ...tool.inputExamples.map((example) => `    ${exampleCall(tool.name, example)}`))
  }
  return lines
}

function describeParameter({ name, schema, required }: Parameter): string {
  if (!isSchemaObject(schema)) return ''
  const description = commentText(typeof schema['description'] === 'string' ? schema['description'] : '')
  const optional = required || schema['default'] !== undefined ? '' : 'optional, leave it out if not needed'
  const notes = [constraintsOf(schema), optional].filter((part) => part !== '').join('; ')
  if (description === '' && notes === '') return ''
  const [text] = docstringLines([description, notes && `(${notes})`].filter((part) => part !== '').join(' '))
  return `    ${name}: ${text}`
}

function exampleCall(name: string, example: JsonObject): string {
  const keywords = Object.keys(example).every(isPythonIdentifier)
  const written = keywords
    ? Object.entries(example)
        .map(([key, value]) => `${key}=${pythonLiteral(value)}`)
        .join(', ')
    : pythonLiteral(example)
  return docstringLines(`await ${name}(${written})`).join(' ')
}
