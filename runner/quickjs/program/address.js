/* `URL` and `URLSearchParams`. The session parses and writes them. */
'use strict'

const { parse, stringify } = JSON

class URLSearchParams {
  #pairs
  #onChange
  constructor(input = '', onChange) {
    this.#onChange = onChange
    if (typeof input === 'object' && input !== null) {
      const pairs = typeof input[Symbol.iterator] === 'function' ? [...input] : Object.entries(input)
      this.#pairs = pairs.map(([name, value]) => [String(name), String(value)])
    } else this.#pairs = parse(host.parseQuery(String(input)))
  }
  #changed() {
    this.#onChange?.(this.toString())
  }
  get size() {
    return this.#pairs.length
  }
  append(name, value) {
    this.#pairs.push([String(name), String(value)])
    this.#changed()
  }
  delete(name, value) {
    this.#pairs = this.#pairs.filter(
      ([key, each]) => key !== String(name) || (value !== undefined && each !== String(value)),
    )
    this.#changed()
  }
  get(name) {
    return this.#pairs.find(([key]) => key === String(name))?.[1] ?? null
  }
  getAll(name) {
    return this.#pairs.filter(([key]) => key === String(name)).map(([, value]) => value)
  }
  has(name, value) {
    return this.#pairs.some(([key, each]) => key === String(name) && (value === undefined || each === String(value)))
  }
  set(name, value) {
    const index = this.#pairs.findIndex(([key]) => key === String(name))
    if (index < 0) return this.append(name, value)
    this.#pairs[index] = [String(name), String(value)]
    this.#pairs = this.#pairs.filter(([key], place) => key !== String(name) || place === index)
    this.#changed()
  }
  sort() {
    this.#pairs.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    this.#changed()
  }
  forEach(callback, self) {
    for (const [name, value] of this.#pairs) Reflect.apply(callback, self, [value, name, this])
  }
  *entries() {
    for (const [name, value] of this.#pairs) yield [name, value]
  }
  *keys() {
    for (const [name] of this.#pairs) yield name
  }
  *values() {
    for (const [, value] of this.#pairs) yield value
  }
  [Symbol.iterator]() {
    return this.entries()
  }
  toString() {
    return host.writeQuery(stringify(this.#pairs))
  }
  get [Symbol.toStringTag]() {
    return 'URLSearchParams'
  }
}

class URL {
  #parts
  #query
  constructor(input, base) {
    const text = host.parseAddress(String(input), base === undefined ? '' : String(base), '', '')
    if (text === '')
      throw Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL', input: String(input) })
    this.#parts = parse(text)
  }
  static canParse(input, base) {
    return host.parseAddress(String(input), base === undefined ? '' : String(base), '', '') !== ''
  }
  static parse(input, base) {
    return URL.canParse(input, base) ? new URL(input, base) : null
  }
  /** For the getters and setters below. */
  static part(url, name) {
    return url.#parts[name]
  }
  static change(url, name, value) {
    const text = host.parseAddress(url.#parts.href, '', name, String(value))
    if (text === '') return
    url.#parts = parse(text)
    if (name === 'search' || name === 'href') url.#query = undefined
  }
  get searchParams() {
    const update = (text) => {
      this.#parts = parse(host.parseAddress(this.#parts.href, '', 'search', text))
    }
    this.#query ??= new URLSearchParams(this.#parts.search, update)
    return this.#query
  }
  toString() {
    return this.#parts.href
  }
  toJSON() {
    return this.#parts.href
  }
  [Symbol.for('nodejs.util.inspect.custom')](_depth, options, inspect) {
    const shown = { ...this.#parts, searchParams: this.searchParams }
    return `URL ${inspect(shown, options)}`
  }
}

const { part, change } = URL
delete URL.part
delete URL.change
const names = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
]
for (const name of names)
  Object.defineProperty(URL.prototype, name, {
    get() {
      return part(this, name)
    },
    set:
      name === 'origin'
        ? undefined
        : function (value) {
            change(this, name, value)
          },
    enumerable: true,
    configurable: true,
  })

Object.defineProperty(URLSearchParams.prototype, Symbol.for('nodejs.util.inspect.custom'), {
  value(_depth, options, inspect) {
    const pairs = [...this].map(([name, value]) => `${inspect(name, options)} => ${inspect(value, options)}`)
    return pairs.length === 0 ? 'URLSearchParams {}' : `URLSearchParams { ${pairs.join(', ')} }`
  },
})

function install() {
  globalThis.URL = URL
  globalThis.URLSearchParams = URLSearchParams
}

module.exports = { install }
