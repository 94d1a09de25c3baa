import type { Language } from '../language.js'
import { splitStubBy } from '../shared/split-stub.js'
import { callsIn } from './calls.js'
import { describeValue } from './describe-value.js'
import { memberKey } from './literals.js'
import { describeAsFurther, describeEnvironment, describeTools } from './prompt.js'
import { repl } from './repl/index.js'
import { isReservedName } from './reserved-names.js'
import { runner } from './runner.js'
import { createDeclarations, renderStub } from './stub.js'

export const javascript: Language = {
  name: 'javascript',
  title: 'JavaScript',
  extension: '.js',
  otherExtensions: ['.mjs', '.cjs'],
  program: { title: 'Node.js', version: ['/usr/bin/node', '--version'] },
  packageKind: 'npm',
  runner,
  repl,
  embedded: { hasFiles: false },
  isReservedName,
  documentTools: () => {
    const declarations = createDeclarations()
    return (tool, codeName) => renderStub(tool, declarations, codeName)
  },
  splitStub: (stub) => splitStubBy(/^(?:interface|type) (\w+) /, stub),
  describeEnvironment,
  describeTools,
  describeAsFurther,
  summarizeTool: (codeName, parameters, summary) => {
    const input = parameters.length === 0 ? '' : `{ ${parameters.map(memberKey).join(', ')} }`
    return `${codeName}(${input})${summary === '' ? '' : `  // ${summary}`}`
  },
  describeValue,
  callsIn,
}
