import { searchToolsTool } from '../../common/names.js'
import type { Environment, EnvironmentLimits, ExampleCall, ToolsOptions } from '../language.js'
import { describeGiven, formatCount, missingNetwork } from '../shared/prompt.js'
import { argumentWords } from './words.js'

export function describeEnvironment(
  { cellSeconds, outputCharacters, callsPerCell }: EnvironmentLimits,
  environment: Environment,
): string {
  const { contents, hasPackages = false } = environment
  const network = missingNetwork(environment)
  const isKnown = contents !== undefined || hasPackages
  const missing = isKnown ? network : `${network}, and besides the usual commands of Debian there is python3`
  return `\
Runs bash scripts in a sandbox, and returns what they print, and their exit code. Let one script make the calls of a \
task, and filter, add up and compare their results: print only what you need to see.

- Variables, functions, options and the working directory stay for your next call. Background jobs end with the script.
- Output over ${formatCount(outputCharacters)} characters loses its middle.
- There is ${missing}: reach everything outside through the tools.
- Limits: ${formatCount(cellSeconds)} seconds without waits for tools, and ${formatCount(callsPerCell)} tool calls.\
${describeGiven(environment)}`
}

export function describeTools(
  stubs: readonly string[],
  { toolSearch = false, isGrouped = false, hasSignatures = false }: ToolsOptions,
): string {
  if (stubs.length === 0) return 'No tools can be called from scripts here.'
  return `\
The command \`tool\` calls the tools below: \`tool NAME parameter=value\`, or \`tool NAME -\` with a JSON object on stdin. \
\`parameter:=JSON\` passes JSON. It prints the result as JSON. Programs that your script starts can use it, too. Make \
independent calls at once: \`tool a & tool b & wait\`.

A failed call prints why to stderr. Exit codes: 1 the tool failed, 2 wrong arguments, 3 denied, 4 timed out, 5 it may \
have happened (find out before you repeat it).
${toolSearch ? searchIntroduction(isGrouped) : ''}${hasSignatures ? signatureIntroduction : ''}
\`\`\`bash
${stubs.map((stub) => stub.trimEnd()).join(toolSearch ? '\n' : '\n\n')}
\`\`\``
}

export function describeAsFurther(example: ExampleCall | undefined): string {
  const environment = 'Bash scripts. The result has their output and exit code; background jobs end with the script.'
  if (!example) return environment
  const call = `tool ${example.codeName} ${argumentWords(example.input)}`.trim()
  return `${environment} Call tools as \`${call}\`: the result is JSON on stdout, and programs can do it, too.`
}

const searchIntroduction = (isGrouped: boolean): string => `
This list has only their parameters and a summary: read the documentation of those that you are going to use with \
${searchToolsTool} before you write the script, or with \`tool NAME --help\` in it.\
${isGrouped ? ` A line with "and 12 more" is an example of a group: find the others with ${searchToolsTool}, by keywords.` : ''}
`

const signatureIntroduction = `
A command without a comment is documented as the tool of the same name. Use that tool for a single call whose whole \
result you need.
`
