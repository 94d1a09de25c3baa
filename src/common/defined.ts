/** `T` without the members that are undefined: they are optional. */
type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/**
 * The members that have a value. It is spread into an object with optional members, because a member that is there and
 * undefined replaces a default: `{ status, ...defined({ reason, hint }) }`.
 */
export function defined<const T extends object>(members: T): Defined<T> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Defined<T>
}
