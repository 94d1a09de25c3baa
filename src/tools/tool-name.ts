import { PtcError } from '../common/errors.js'
import {
  executeCodeTool,
  giveUpTool,
  readMoreTool,
  searchToolsTool,
  submitAnswerTool,
  submitPlanTool,
  toolNamePattern,
} from '../common/names.js'
import {
  isPythonException,
  javascriptKeywords,
  pythonBuiltins,
  pythonKeywords,
  runnerNames,
} from './python/reserved-names.js'
import { takeStart } from '../common/text/text.js'

/** @throws PtcError TOOL_NAME_INVALID for a name that code can't call, or that hides another name of the program */
export function checkToolName(name: unknown): asserts name is string {
  if (typeof name !== 'string') {
    throw new PtcError(
      'TOOL_NAME_INVALID',
      `a tool needs a name, as a string; got ${name === null ? 'null' : typeof name}`,
    )
  }
  const problem = problemOf(name)
  if (problem === undefined) return
  throw new PtcError('TOOL_NAME_INVALID', `tool name ${JSON.stringify(takeStart(name, 100))} ${problem}`, {
    hint: 'Use an identifier of letters, digits and underscores, such as get_expenses.',
  })
}

function problemOf(name: string): string | undefined {
  if (!toolNamePattern.test(name))
    return 'is not an identifier of at most 64 characters (letters, digits, _; no digit first)'
  if (name === executeCodeTool) return 'is the name of the code tool itself'
  if (name === readMoreTool) return 'is the name of the tool that reads the rest of a result'
  if (name === searchToolsTool) return 'is the name of the tool that searches the documentation of tools'
  if (name === submitAnswerTool) return 'is the name of the tool for the answer'
  if (name === giveUpTool) return 'is the name of the tool that gives up'
  if (name === submitPlanTool) return 'is the name of the tool for the plan'
  if (name.startsWith('__')) return 'begins with two underscores, which Python keeps for itself'
  if (pythonKeywords.has(name)) return 'is a Python keyword, so code could not call it'
  if (javascriptKeywords.has(name)) return 'is a JavaScript keyword, so code could not call it'
  if (pythonBuiltins.has(name) || isPythonException(name)) {
    return runnerNames.has(name) ? reservedByRunner : 'is a Python builtin, which code would lose'
  }
  return runnerNames.has(name) ? reservedByRunner : undefined
}

const reservedByRunner = 'is a name that every program already has'
