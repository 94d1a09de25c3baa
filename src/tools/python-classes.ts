import { isPythonIdentifier, pythonLiteral } from './python-text.js'

/** One class of the stubs. */
interface PythonClass {
  readonly name: string
  readonly identity: string
  /** Empty while the body is being made: a recursive class refers to itself by name only. */
  text: string
}

/**
 * The classes of a set of stubs that are read together: the same object type is one class, two types never share a name, and
 * a class is written before the stub that first needs it, once.
 */
export class PythonClasses {
  readonly #byIdentity = new Map<string, PythonClass>()
  readonly #names = new Set<string>()
  #unwritten: PythonClass[] = []

  /** The name of the class with this identity; `body` makes its text when it is new. */
  define(preferredName: string, identity: string, body: (name: string) => string): string {
    const known = this.#byIdentity.get(identity)
    if (known !== undefined) return known.name
    const made: PythonClass = { name: this.#freeName(preferredName), identity, text: '' }
    this.#byIdentity.set(identity, made)
    this.#names.add(made.name)
    made.text = body(made.name)
    this.#unwritten.push(made)
    return made.name
  }

  /** The classes defined since the last time, each after those it needs. */
  take(): readonly string[] {
    const texts = this.#unwritten.map(({ text }) => text)
    this.#unwritten = []
    return texts
  }

  #freeName(preferred: string): string {
    let name = preferred
    for (let count = 2; this.#names.has(name) || taken.has(name); count++) name = `${preferred}${count}`
    return name
  }
}

/** Names the stubs use themselves. */
const taken: ReadonlySet<string> = new Set([
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
export interface ClassField {
  readonly key: string
  readonly annotation: string
  readonly required: boolean
  /** One line; empty for none. */
  readonly comment: string
}

/** The text of a TypedDict class. */
export function renderTypedDict(name: string, fields: readonly ClassField[]): string {
  // A class body can't have other names, and mangles those with two underscores.
  const asClass = fields.every(({ key }) => isPythonIdentifier(key) && !key.startsWith('__'))
  const lines = fields.map(({ key, annotation, required, comment }) => {
    const type = required ? annotation : `NotRequired[${annotation}]`
    // In the call form annotations are values: quoted, they may name a class that is not there yet.
    const member = asClass ? `${key}: ${type}` : `${pythonLiteral(key)}: ${pythonLiteral(type)},`
    return comment === '' ? `    ${member}` : `    ${member}  # ${comment}`
  })
  if (asClass) return [`class ${name}(TypedDict):`, ...lines].join('\n')
  return [`${name} = TypedDict('${name}', {`, ...lines, '})'].join('\n')
}
