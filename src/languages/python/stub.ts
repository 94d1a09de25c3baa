import { isJsonObject, type JsonObject } from '../../common/json/json.js'
import { constraintsOf } from '../shared/constraints.js'
import { differentShapes } from '../shared/examples.js'
import { commentText, pascalCase } from '../shared/texts.js'
import type { PythonClasses } from './classes.js'
import { docstringLines, isPythonIdentifier, pythonLiteral } from './literals.js'
import { createAnnotator } from './annotations.js'
import type { DocumentedTool, ToolStub } from '../language.js'
import { type Parameter, parametersOf } from '../parameters.js'

const maxLineCharacters = 120

/**
 * A tool as a Python function without a body: valid Python 3.11, deterministic. Preceded by the classes it needs that
 * are not in `classes` yet.
 *
 * @param codeName name of the function
 */
export function renderStub(tool: DocumentedTool, classes: PythonClasses, codeName = tool.name): ToolStub {
  const baseName = pascalCase(tool.name) || 'Tool'
  const annotateInput = createAnnotator(tool.inputSchema, classes)
  const parameters = parametersOf(tool.inputSchema)
  // If a name can't be a keyword argument, the tool takes one dict.
  const byKeyword =
    parameters.every(({ name }) => isPythonIdentifier(name)) &&
    (parameters.length > 0 || tool.inputSchema['patternProperties'] === undefined)
  const renderedParameters = byKeyword
    ? parameters.map((parameter) =>
        renderParameter(parameter, annotateInput(parameter.schema, `${baseName}${pascalCase(parameter.name)}`)),
      )
    : [`arguments: ${annotateInput(tool.inputSchema, `${baseName}Arguments`)}`]
  const result = createAnnotator(tool.outputSchema, classes)(tool.outputSchema, `${baseName}Result`)
  const header = renderHeader(codeName, renderedParameters, result)
  const declarations = [...classes.takePending(), header].join('\n\n')
  return {
    stub: `${declarations}\n${renderDocstring(documentationLines(tool, codeName, parameters, byKeyword))}`,
    signature: `${declarations} ...`,
  }
}

/** The closing quotes have their own line, unless the docstring is one line that does not end with a quote. */
function renderDocstring(lines: readonly string[]): string {
  const [first = '', ...rest] = lines
  if (rest.length === 0 && !first.endsWith('"')) return `    """${first}"""`
  return [`    """${first}`, ...rest.map((line) => (line === '' ? '' : `    ${line}`)), '    """'].join('\n')
}

function renderParameter({ name, schema, required }: Parameter, annotation: string): string {
  if (required) return `${name}: ${annotation}`
  const fallback = isJsonObject(schema) ? schema['default'] : undefined
  return `${name}: ${annotation} = ${fallback === undefined ? '...' : pythonLiteral(fallback)}`
}

function renderHeader(name: string, parameters: readonly string[], result: string): string {
  const line = `async def ${name}(${parameters.join(', ')}) -> ${result}:`
  if (line.length <= maxLineCharacters || parameters.length === 0) return line
  return `async def ${name}(\n${parameters.map((parameter) => `    ${parameter},\n`).join('')}) -> ${result}:`
}

function documentationLines(
  tool: DocumentedTool,
  codeName: string,
  parameters: readonly Parameter[],
  byKeyword: boolean,
): readonly string[] {
  const lines = docstringLines(tool.description)
  if (codeName !== tool.name) lines.push(`Tool ${tool.name}, which code calls by this name.`)
  const described = parameters.map(describeParameter).filter((line) => line !== '')
  if (byKeyword) lines.push(...described)
  else if (parameters.length === 0) lines.push('Takes one dict.')
  else lines.push('Takes one dict, because a name in it is not a Python identifier.')
  const returns = tool.outputSchema['description']
  if (typeof returns === 'string') lines.push(...docstringLines(`Returns: ${returns}`))
  lines.push(...differentShapes(tool.inputExamples).map((example) => `Example: ${renderExample(codeName, example)}`))
  return lines
}

function describeParameter({ name, schema, required }: Parameter): string {
  if (!isJsonObject(schema)) return ''
  const description = commentText(typeof schema['description'] === 'string' ? schema['description'] : '')
  const optional = required || schema['default'] !== undefined ? '' : 'optional, leave it out if not needed'
  const notes = [constraintsOf(schema), optional].filter((part) => part !== '').join('; ')
  if (description === '' && notes === '') return ''
  const [text] = docstringLines([description, notes && `(${notes})`].filter((part) => part !== '').join(' '))
  return `${name}: ${text}`
}

function renderExample(name: string, example: JsonObject): string {
  const keywords = Object.keys(example).every(isPythonIdentifier)
  const written = keywords
    ? Object.entries(example)
        .map(([key, value]) => `${key}=${pythonLiteral(value)}`)
        .join(', ')
    : pythonLiteral(example)
  return docstringLines(`await ${name}(${written})`).join(' ')
}
