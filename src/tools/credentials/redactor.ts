import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import type { ToolLog } from '../tool-context.js'

/** Shorter lines of a multi-line value are not redacted: they could be ordinary text. */
const minLineCharacters = 16

/** Replaces the values of credentials with markers. */
export class Redactor {
  /** The texts to replace, longest first, and their markers. */
  readonly #forms: readonly (readonly [string, string])[]

  /** @param values by name */
  constructor(values: ReadonlyMap<string, string> = new Map()) {
    this.#forms = [...values]
      .flatMap(([name, value]) => formsOf(value).map((form) => [form, `[credential ${name}]`] as const))
      .toSorted(([a], [b]) => b.length - a.length)
  }

  /** The text without the values. */
  readonly text = (text: string): string => {
    // A replacement text would give "$&" a meaning.
    for (const [form, marker] of this.#forms) if (text.includes(form)) text = text.replaceAll(form, () => marker)
    return text
  }

  /**
   * The value with each text and key redacted, in arrays, plain objects and errors. Returns the same object when there
   * is no value in it.
   */
  any<Value>(value: Value): Value {
    return this.#forms.length === 0 ? value : (this.#any(value, new Map()) as Value)
  }

  /** The same error without the values. */
  ptcError(error: PtcError): PtcError {
    const { code, message, hint, retryAfterMs, stack } = error
    if (this.#forms.length === 0) return error
    const redacted = new PtcError(code, this.text(message), {
      ...(hint !== undefined && { hint: this.text(hint) }),
      ...defined({ retryAfterMs }),
    })
    if (stack !== undefined) redacted.stack = this.text(stack)
    return redacted
  }

  /** A log that redacts messages and fields. */
  log(log: ToolLog): ToolLog {
    if (this.#forms.length === 0) return log
    const write = (level: keyof ToolLog) => (message: string, fields?: Readonly<Record<string, unknown>>) =>
      log[level](this.text(message), this.any(fields))
    return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
  }

  /** @param seen objects and their results, including objects that are in progress */
  #any(value: unknown, seen: Map<object, unknown>): unknown {
    if (typeof value === 'string') return this.text(value)
    if (typeof value !== 'object' || value === null) return value
    if (seen.has(value)) return seen.get(value)
    seen.set(value, '[circular]')
    const redacted = this.#object(value, seen)
    seen.set(value, redacted)
    return redacted
  }

  #object(value: object, seen: Map<object, unknown>): unknown {
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#any(item, seen))
      return items.every((item, index) => item === value[index]) ? value : items
    }
    if (value instanceof Error) {
      const { name, message, stack, cause } = value
      const members = {
        ...Object.fromEntries(Object.entries(value)),
        name,
        message,
        stack,
        ...defined({ cause }),
      }
      const redacted = this.#any(members, seen)
      return redacted === members ? value : redacted
    }
    if (!isPlainObject(value)) return value
    const entries = Object.entries(value)
    const redacted = entries.map(([key, member]) => [this.text(key), this.#any(member, seen)] as const)
    const isSame = redacted.every(([key, member], index) => key === entries[index]?.[0] && member === entries[index][1])
    return isSame ? value : Object.fromEntries(redacted)
  }
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** The forms of a value: plain, in a URL, in JSON and in Base64; and its long lines. */
function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value)
  const lines = value.split(/\r?\n/).filter((line) => line.length >= minLineCharacters && !line.startsWith('-----'))
  const forms = [
    value,
    ...lines,
    encodeURIComponent(bytes.toString()),
    JSON.stringify(value).slice(1, -1),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
  ]
  return [...new Set(forms)]
}
