/** Compares dotted version numbers. A missing number counts as 0. */
export function isAtLeast(version: string, minimum: string): boolean {
  const numbers = version.split('.').map(Number)
  for (const [index, required] of minimum.split('.').map(Number).entries()) {
    const number = numbers[index] ?? 0
    if (number !== required) return number > required
  }
  return true
}
