/** All strings in a value at any depth, one per line; bytes (payloads of a history) are decoded as UTF-8. */
export function readableText(value: unknown): string {
  const found: string[] = []
  const waiting = [value]
  while (waiting.length > 0) {
    const each = waiting.pop()
    if (typeof each === 'string') found.push(each)
    else if (each instanceof Uint8Array) found.push(Buffer.from(each).toString('utf8'))
    else if (typeof each === 'object' && each !== null) waiting.push(...Object.keys(each), ...Object.values(each))
  }
  return found.join('\n')
}
