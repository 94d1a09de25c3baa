import { searchToolsTool } from '../../common/names.js'
import type { Environment, EnvironmentLimits, ExampleCall, ToolsOptions } from '../language.js'
import {
  describeGiven,
  formatCount,
  mayImportPackages,
  missingNetwork,
  outcomeUnknown,
  passNumbers,
} from '../shared/prompt.js'
import { javascriptLiteral } from './literals.js'

/** @param isTyped the language is TypeScript */
export function describeEnvironment(
  { cellSeconds, outputCharacters, callsPerCell }: EnvironmentLimits,
  environment: Environment,
  isTyped = false,
): string {
  const { isEmbedded = false } = environment
  const network = missingNetwork(environment)
  const engine = isEmbedded ? 'QuickJS' : 'Node.js'
  const missing = isEmbedded
    ? 'no network, no file and no module, so no `import`, `require`, `process`, `Buffer` and `fetch`; there are URL, Intl, \
timers, structuredClone and crypto.randomUUID'
    : mayImportPackages(environment, 'npm')
      ? network
      : `${network}, and no packages besides Node's own modules`
  const kept = isEmbedded ? 'functions and classes' : 'functions, classes and imports'
  // The worker of an embedded sandbox may have a Node.js that can't remove types.
  const typesRule =
    isEmbedded && !isTyped
      ? 'Write plain JavaScript, without types.'
      : `${isTyped ? 'Types are removed, not checked' : 'TypeScript is accepted: its types are removed'}. It has no enums \
and namespaces here.`
  return `\
Runs ${isTyped ? 'TypeScript' : 'JavaScript'} in ${engine} in a sandbox, with top-level \`await\`, and returns only \
what it prints with console.log. Let one program make the calls of a task, and filter, add up and compare their results: \
print only what you need to see.

- Variables, ${kept} stay for your next call, which may declare them again.
- ${typesRule}
- Output over ${formatCount(outputCharacters)} characters loses its middle. \
console.log shortens deep objects and long arrays: print JSON.stringify(value) to see all.
- There is ${missing}: reach everything outside through the tools.
- Limits: ${formatCount(cellSeconds)} seconds without waits for tools, and ${formatCount(callsPerCell)} tool calls.\
${describeGiven(environment)}`
}

export function describeTools(
  stubs: readonly string[],
  { toolSearch = false, isGrouped = false, hasSignatures = false, takesNoNumbers, isRepeatable }: ToolsOptions,
): string {
  if (stubs.length === 0) return 'No tools can be called from code here.'
  return `\
These functions are defined. Await them with one object. They return parsed JSON.\
${takesNoNumbers ? '' : passNumbers} Make independent \
calls at once, with Promise.all.

A failed call rejects with a ToolError (error.message says why), or its subclass \
${isRepeatable ? 'ToolDenied or ToolTimedOut' : outcomeUnknown}.
${toolSearch ? searchIntroduction(isGrouped) : ''}${hasSignatures ? signatureIntroduction : ''}
\`\`\`typescript
${stubs.map((stub) => stub.trimEnd()).join(toolSearch ? '\n' : '\n\n')}
\`\`\``
}

export function describeAsFurther(example: ExampleCall | undefined, title = 'JavaScript or TypeScript'): string {
  const environment = `${title} in Node.js, with \`await\` at the top level. Print with console.log.`
  if (!example) return environment
  const { codeName, input } = example
  const written = Object.keys(input).length === 0 ? '' : javascriptLiteral(input)
  return `${environment} Call tools as \`await ${codeName}(${written})\`.`
}

const searchIntroduction = (isGrouped: boolean): string => `
This list has only the members of their objects and a summary: read the documentation of those that you are going to \
use with ${searchToolsTool} before you write the code.\
${isGrouped ? ` A line with "and 12 more" is an example of a group: find the others with ${searchToolsTool}, by keywords.` : ''}
`

const signatureIntroduction = `
A function without a comment is documented as the tool of the same name. Use that tool for a single call whose whole \
result you need.
`
