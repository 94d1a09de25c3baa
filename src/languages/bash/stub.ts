import type { DocumentedTool, ToolStub } from '../language.js'
import { parametersOf } from '../parameters.js'
import type { Declarations } from '../shared/declarations.js'
import { differentShapes } from '../shared/examples.js'
import { pascalCase, toPrintable } from '../shared/texts.js'
import { typesOf } from '../javascript/types.js'
import { argumentWords, quoteWord } from './words.js'

/**
 * A tool as a command line: deterministic. Comments have its documentation and, as types of TypeScript, the JSON that it
 * takes and returns. Preceded by the types that are not in `declarations` yet.
 *
 * @param codeName the name for the command `tool`
 */
export function renderStub(tool: DocumentedTool, declarations: Declarations, codeName = tool.name): ToolStub {
  const baseName = pascalCase(tool.name) || 'Tool'
  const result = typesOf(tool.outputSchema, declarations).root(`${baseName}Result`)
  const parameters = parametersOf(tool.inputSchema)
  const input =
    parameters.length === 0 ? undefined : typesOf(tool.inputSchema, declarations).members(`${baseName}Input`)
  const types = declarations.takePending().map((text) => `${comment(text)}\n\n`)
  const words = parameters.map(({ name, required }) =>
    required ? `${quoteWord(name)}=...` : `[${quoteWord(name)}=...]`,
  )
  const command = ['tool', codeName, ...words].join(' ')
  const documentation = [
    toPrintable(tool.description).trim(),
    ...(input === undefined ? [] : [`Takes ${input}`]),
    `Prints ${result}`,
    ...differentShapes(tool.inputExamples).map((example) =>
      `Example: tool ${codeName} ${argumentWords(example)}`.trim(),
    ),
  ]
  const head = types.join('')
  return {
    stub: `${head}${comment(documentation.join('\n'))}\n${command}`,
    signature: `${head}${command}`,
  }
}

/** A text as comment lines. An empty line would end the declaration of a type. */
function comment(text: string): string {
  return text
    .split('\n')
    .map((line) => `# ${line}`.trimEnd())
    .join('\n')
}
