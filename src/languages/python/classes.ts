import { isPythonIdentifier, pythonLiteral } from './literals.js'

/** One class of the stubs. */
interface PythonClass {
  readonly name: string
  readonly identity: string
  /** Empty while the body is rendered: a recursive class refers to itself by name. */
  text: string
}

/**
 * The classes of a set of stubs. Equal object types share one class, different types never share a name, and each class
 * is declared once, before the first stub that needs it.
 */
export class PythonClasses {
  readonly #byIdentity = new Map<string, PythonClass>()
  readonly #names = new Set<string>()
  #pending: PythonClass[] = []

  /** Returns the name of the class with this identity. `body` renders a new class. */
  define(preferredName: string, identity: string, body: (name: string) => string): string {
    const known = this.#byIdentity.get(identity)
    if (known !== undefined) return known.name
    const added: PythonClass = { name: this.#uniqueName(preferredName), identity, text: '' }
    this.#byIdentity.set(identity, added)
    this.#names.add(added.name)
    added.text = body(added.name)
    this.#pending.push(added)
    return added.name
  }

  /** Returns the classes added since the last call, each after the classes it refers to. */
  takePending(): readonly string[] {
    const texts = this.#pending.map(({ text }) => text)
    this.#pending = []
    return texts
  }

  #uniqueName(preferred: string): string {
    let name = preferred
    for (let count = 2; this.#names.has(name) || reservedNames.has(name); count++) name = `${preferred}${count}`
    return name
  }
}

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
