import type { Language } from '../language.js'
import { splitStubBy } from '../shared/split-stub.js'
import { callsIn } from './calls.js'
import { PythonClasses } from './classes.js'
import { describeValue } from './describe-value.js'
import { hosted } from './hosted.js'
import { pythonInterpreter } from './interpreter.js'
import { describeAsFurther, describeEnvironment, describeTools } from './prompt.js'
import { repl } from './repl/index.js'
import { isReservedName } from './reserved-names.js'
import { renderStub } from './stub.js'

export const python: Language = {
  name: 'python',
  title: 'Python',
  extension: '.py',
  program: { title: 'Python', version: ['/usr/bin/python3', '--version'] },
  packageKind: 'pip',
  runner: {
    interpreter: pythonInterpreter,
    entry: 'runner.py',
    environment: { PYTHONHASHSEED: '0', PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' },
  },
  repl,
  embedded: { hasFiles: true },
  hosted,
  isReservedName,
  documentTools: () => {
    const classes = new PythonClasses()
    return (tool, codeName) => renderStub(tool, classes, codeName)
  },
  splitStub: (stub) => splitStubBy(/^(?:class (\w+)\(TypedDict\):|(\w+) = TypedDict\()/, stub),
  describeEnvironment,
  describeTools,
  describeAsFurther,
  summarizeTool: (codeName, parameters, summary) =>
    `${codeName}(${parameters.join(', ')})${summary === '' ? '' : `  # ${summary}`}`,
  describeValue,
  callsIn,
}
