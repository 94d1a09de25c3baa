import { Declarations } from '../shared/declarations.js'
import { isPythonIdentifier, pythonLiteral } from './literals.js'

/** Names that the stubs use. */
const reservedNames: ReadonlySet<string> = new Set([
  'Any',
  'Literal',
  'Never',
  'NotRequired',
  'TypedDict',
  'None',
  'True',
  'False',
])

/** The classes of a set of stubs. */
export class PythonClasses extends Declarations {
  constructor() {
    super(reservedNames)
  }
}

/** A member of a TypedDict. */
interface ClassField {
  readonly key: string
  readonly annotation: string
  readonly required: boolean
  /** One line; empty for no comment. */
  readonly comment: string
}

export function renderTypedDict(name: string, fields: readonly ClassField[]): string {
  // A class body allows only identifiers, and mangles those with two leading underscores.
  const canUseClassSyntax = fields.every(({ key }) => isPythonIdentifier(key) && !key.startsWith('__'))
  const lines = fields.map(({ key, annotation, required, comment }) => {
    const type = required ? annotation : `NotRequired[${annotation}]`
    // Annotations in the functional syntax are values. In quotes, they may name a class that is not declared yet.
    const member = canUseClassSyntax ? `${key}: ${type}` : `${pythonLiteral(key)}: ${pythonLiteral(type)},`
    return comment === '' ? `    ${member}` : `    ${member}  # ${comment}`
  })
  if (canUseClassSyntax) return [`class ${name}(TypedDict):`, ...lines].join('\n')
  return [`${name} = TypedDict('${name}', {`, ...lines, '})'].join('\n')
}
