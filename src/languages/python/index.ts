import type { Language } from '../language.js'
import { PythonClasses } from './classes.js'
import { describeEnvironment, describeTools } from './prompt.js'
import { isReservedName } from './reserved-names.js'
import { renderStub } from './stub.js'

export const python: Language = {
  name: 'python',
  isReservedName,
  documentTools: () => {
    const classes = new PythonClasses()
    return (tool, codeName) => renderStub(tool, classes, codeName)
  },
  describeEnvironment,
  describeTools,
}
