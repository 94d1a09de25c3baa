/** Reads a variable of `process.env`; undefined when it is not set or empty. */
export function environmentVariable(name: string): string | undefined {
  const value = process.env[name]
  return value === '' ? undefined : value
}
