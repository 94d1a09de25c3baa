/** One type of the stubs. */
interface Declaration {
  readonly name: string
  readonly identity: string
  /** Empty while the text is rendered: a recursive type refers to itself by name. */
  text: string
}

/**
 * The types that a set of stubs declares. Equal types share one declaration, different types never share a name, and
 * each type is declared once, in the first stub that needs it.
 */
export class Declarations {
  readonly #byIdentity = new Map<string, Declaration>()
  readonly #names: Set<string>
  #pending: Declaration[] = []

  /** @param reservedNames names that no type may have */
  constructor(reservedNames: ReadonlySet<string>) {
    this.#names = new Set(reservedNames)
  }

  /** Returns the name of the type with this identity. `render` renders a new type. */
  define(preferredName: string, identity: string, render: (name: string) => string): string {
    const known = this.#byIdentity.get(identity)
    if (known !== undefined) return known.name
    const added: Declaration = { name: this.#uniqueName(preferredName), identity, text: '' }
    this.#byIdentity.set(identity, added)
    this.#names.add(added.name)
    added.text = render(added.name)
    this.#pending.push(added)
    return added.name
  }

  /** Returns the texts of the types added since the last call, each after the types it refers to. */
  takePending(): readonly string[] {
    const texts = this.#pending.map(({ text }) => text)
    this.#pending = []
    return texts
  }

  #uniqueName(preferred: string): string {
    let name = preferred
    for (let count = 2; this.#names.has(name); count++) name = `${preferred}${count}`
    return name
  }
}
