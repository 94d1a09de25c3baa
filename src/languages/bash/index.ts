import { splitStubBy } from '../shared/split-stub.js'
import { createDeclarations } from '../javascript/stub.js'
import { dispatchedRunner } from '../dispatcher.js'
import type { Language } from '../language.js'
import { callsIn } from './calls.js'
import { describeValue } from './describe-value.js'
import { describeAsFurther, describeEnvironment, describeTools } from './prompt.js'
import { repl } from './repl/index.js'
import { renderStub } from './stub.js'

/** Cells are scripts, which the dispatcher executes. Tools are called by the command `tool`. */
export const bash: Language = {
  name: 'bash',
  title: 'Bash',
  extension: '.sh',
  otherExtensions: ['.bash'],
  program: { title: 'Bash', version: ['/bin/bash', '--version'] },
  packageKind: 'apt',
  runner: dispatchedRunner('bash', {}),
  repl,
  // The name of a tool is an argument of the command `tool`: it hides no name of the shell.
  isReservedName: () => false,
  documentTools: () => {
    const declarations = createDeclarations()
    return (tool, codeName) => renderStub(tool, declarations, codeName)
  },
  splitStub: (stub) => splitStubBy(/^# (?:interface|type) (\w+) /, stub),
  describeEnvironment,
  describeTools,
  describeAsFurther,
  summarizeTool: (codeName, parameters, summary) =>
    `tool ${[codeName, ...parameters.map((name) => `${name}=...`)].join(' ')}${summary === '' ? '' : `  # ${summary}`}`,
  describeValue,
  callsIn,
}
