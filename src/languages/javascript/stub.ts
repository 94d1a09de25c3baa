import { isJsonObject, type JsonObject } from '../../common/json/json.js'
import type { DocumentedTool, ToolStub } from '../language.js'
import { parametersOf } from '../parameters.js'
import { Declarations } from '../shared/declarations.js'
import { differentShapes } from '../shared/examples.js'
import { pascalCase } from '../shared/texts.js'
import { commentLines, javascriptLiteral } from './literals.js'
import { typesOf } from './types.js'

/** Types of the language that the stubs use, or that a model would take for those of the language. */
const typeNames: ReadonlySet<string> = new Set(
  'Array Boolean Date Error Function Map Number Object Promise Record RegExp Set String Symbol Tool ToolError'.split(
    ' ',
  ),
)

/** The types of a set of stubs. */
export function createDeclarations(): Declarations {
  return new Declarations(typeNames)
}

/**
 * A tool as the declaration of a TypeScript function: deterministic. Preceded by the types it needs that are not in
 * `declarations` yet.
 *
 * @param codeName name of the function
 */
export function renderStub(tool: DocumentedTool, declarations: Declarations, codeName = tool.name): ToolStub {
  const baseName = pascalCase(tool.name) || 'Tool'
  const header = (hasComments: boolean): string => {
    const input = renderInput(tool.inputSchema, declarations, `${baseName}Input`, hasComments)
    const output = typesOf(tool.outputSchema, declarations).root(`${baseName}Result`)
    return `declare function ${codeName}(${input}): Promise<${output}>`
  }
  const documented = header(true)
  const types = declarations.takePending().map((text) => `${text}\n\n`)
  // A comment of its arguments is documentation, too. No type is declared by the second rendering.
  const signature = header(false)
  return {
    stub: `${types.join('')}${renderComment(documentationLines(tool, codeName))}\n${documented}`,
    signature: `${types.join('')}${signature}`,
  }
}

function renderInput(schema: JsonObject, declarations: Declarations, name: string, hasComments: boolean): string {
  const types = typesOf(schema, declarations, { hasComments })
  const hasParts = ['$ref', 'anyOf', 'oneOf', 'allOf'].some((key) => key in schema)
  const hasMembers = parametersOf(schema).length > 0
  const isRecord = isJsonObject(schema['additionalProperties']) || schema['patternProperties'] !== undefined
  // Its members are where the model looks for them, and not in a declared type.
  if (hasMembers && !hasParts) return `input: ${types.members(name)}`
  return hasParts || isRecord ? `input: ${types.root(name)}` : ''
}

function renderComment(lines: readonly string[]): string {
  const [only = ''] = lines
  if (lines.length === 1) return `/** ${only} */`
  return ['/**', ...lines.map((line) => (line === '' ? ' *' : ` * ${line}`)), ' */'].join('\n')
}

function documentationLines(tool: DocumentedTool, codeName: string): readonly string[] {
  const lines = commentLines(tool.description)
  if (codeName !== tool.name) lines.push(`Tool ${tool.name}, which code calls by this name.`)
  const returns = tool.outputSchema['description']
  if (typeof returns === 'string') lines.push(...commentLines(`Returns: ${returns}`))
  for (const example of differentShapes(tool.inputExamples))
    lines.push(commentLines(`Example: await ${codeName}(${javascriptLiteral(example)})`).join(' '))
  return lines
}
