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
import { isPythonIdentifier, pythonLiteral } from './literals.js'

export function describeEnvironment(
  { cellSeconds, outputCharacters, callsPerCell }: EnvironmentLimits,
  environment: Environment,
): string {
  const network = missingNetwork(environment)
  const missing = mayImportPackages(environment, 'pip') ? network : `the standard library only, and ${network}`
  return `\
Runs async Python in a sandbox, with top-level \`await\`, and returns only what it prints. Let one program make the calls \
of a task, and filter, add up and compare their results: print only what you need to see.

- Variables, functions and imports stay for your next call.
- Output over ${formatCount(outputCharacters)} characters loses its middle.
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
These functions are defined. Await them with keyword arguments or one dict. They return parsed JSON.\
${takesNoNumbers ? '' : passNumbers} \
Make independent calls at once, with asyncio.gather.

A failed call raises ToolError (str(error) says why), or its subclass \
${isRepeatable ? 'ToolDenied or ToolTimedOut' : outcomeUnknown}.
${toolSearch ? searchIntroduction(isGrouped) : ''}${hasSignatures ? signatureIntroduction : ''}
\`\`\`python
${stubs.map((stub) => stub.trimEnd()).join(toolSearch ? '\n' : '\n\n')}
\`\`\``
}

export function describeAsFurther(example: ExampleCall | undefined): string {
  const environment = 'Async Python, with `await` at the top level. Print with print.'
  return example ? `${environment} Call tools as \`await ${renderCall(example)}\`.` : environment
}

function renderCall({ codeName, input }: ExampleCall): string {
  const members = Object.entries(input)
  const hasKeywords = members.every(([name]) => isPythonIdentifier(name))
  const keywords = members.map(([name, value]) => `${name}=${pythonLiteral(value)}`).join(', ')
  return `${codeName}(${hasKeywords ? keywords : pythonLiteral(input)})`
}

const searchIntroduction = (isGrouped: boolean): string => `
This list has only their parameters and a summary: read the documentation of those that you are going to use with \
${searchToolsTool} before you write the code.\
${isGrouped ? ` A line with "and 12 more" is an example of a group: find the others with ${searchToolsTool}, by keywords.` : ''}
`

const signatureIntroduction = `
A function without a docstring is documented as the tool of the same name. Use that tool for a single call whose whole \
result you need.
`
