import type { Limits } from '../common/runs/limits.js'
import { executeCodeTool, searchToolsTool } from '../common/names.js'
import type { SharedSession } from '../common/runs/model-turn.js'
import type { ModelTool } from './provider.js'

/** The limits that the prompt mentions. */
export type PromptLimits = Pick<Limits, 'cellSeconds' | 'outputCharacters' | 'callsPerCell'>

/**
 * The tool `execute_code`, with which the model runs code.
 *
 * @param stubs the tools that code can call, as Python functions
 */
export function codeTool(stubs: readonly string[], limits: PromptLimits, options: CodeToolOptions = {}): ModelTool {
  return {
    name: executeCodeTool,
    description: [rules(limits, options), stubs.length === 0 ? noTools : toolsSection(stubs, options)].join('\n\n'),
    inputSchema: {
      type: 'object',
      properties: { code: { type: 'string', description: 'Python source. Print what you need to see.' } },
      required: ['code'],
      additionalProperties: false,
    },
    inputExamples: [],
  }
}

interface CodeToolOptions {
  /** The stubs are one line each, and the model searches the documentation. */
  readonly toolSearch?: boolean | undefined
  /** The sandbox may have more than the standard library. */
  readonly hasPackages?: boolean | undefined
  /** Describes the data that code has as `input_data`. */
  readonly inputDescription?: string | undefined
  /** Whose variables code sees, too. */
  readonly sharedSession?: SharedSession | undefined
}

function rules(
  { cellSeconds, outputCharacters, callsPerCell }: PromptLimits,
  { hasPackages = false, inputDescription, sharedSession }: CodeToolOptions,
): string {
  const missing = hasPackages ? 'no network' : 'the standard library only, and no network'
  const inputRule =
    inputDescription === undefined
      ? ''
      : `\n- Variable \`input_data\` has the data that came with the question: ${inputDescription}.`
  const sharedRule = sharedSession ? `\n- ${describeShared(sharedSession)}` : ''
  return `\
Runs Python code in a sandbox and returns what the code prints.

- The code is async Python 3: use \`await\` at the top level, without asyncio.run.
- Variables, functions and imports are kept: your next call continues where this one ended.
- Only printed output comes back, and at most ${formatCount(outputCharacters)} characters of it; of more, the middle is cut out. \
The value of a last expression is not shown. So filter, add up and compare in code, and print only what you need to see.
- There is ${missing}: everything outside is reached through the tools. asyncio and json are imported already.
- The code may run for ${formatCount(cellSeconds)} seconds, waiting for tools not counted, and make ${formatCount(callsPerCell)} tool calls. \
Time and datetime stand still while it computes: measure with time.perf_counter.${inputRule}${sharedRule}`
}

function describeShared(session: SharedSession): string {
  const others =
    session.type === 'named'
      ? `The sandbox is session ${session.name}, which others use, too`
      : 'The sandbox is that of the agent that gave you the task'
  return `${others}: their variables are there, and may change between your calls.`
}

const noTools = 'No tools can be called from code here.'

function toolsSection(stubs: readonly string[], { toolSearch = false }: CodeToolOptions): string {
  return `\
Tools in code are async functions that are already there; don't import or define them. Call them with keyword arguments \
(or one dict) and await the result. It is parsed JSON (dict, list, str, int, float, bool or None), never a JSON string. Pass an integer beyond 2**53 as a string.

Run independent calls at the same time:

\`\`\`python
results = await asyncio.gather(*(some_tool(id=i) for i in ids))
\`\`\`

A call that fails raises ToolError; str(error) says why. Its subclasses are ToolDenied (this call is not allowed), \
ToolTimedOut (no answer in time) and ToolOutcomeUnknown (it was interrupted, so it may or may not have happened: find out \
before you repeat it). All four are already there, and code can catch them.

${toolSearch ? searchIntroduction : 'These tools can be called from code:'}

\`\`\`python
${stubs.map((stub) => stub.trimEnd()).join(toolSearch ? '\n' : '\n\n')}
\`\`\``
}

const searchIntroduction = `\
These tools can be called from code. This list has only their parameters and a summary: read the documentation of those \
that you are going to use with ${searchToolsTool} before you write the code.`

/** 20000 -> "20,000", independent of the locale. */
function formatCount(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}
