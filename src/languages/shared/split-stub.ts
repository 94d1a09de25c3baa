import type { SplitStub } from '../language.js'

/**
 * Takes a stub apart. Neither a declared type nor anything before the function has a blank line in it.
 *
 * @param head matches the begin of a declaration; its first group that is not empty is the name of the type
 */
export function splitStubBy(head: RegExp, stub: string): SplitStub {
  const types: (readonly [string, string])[] = []
  let body = stub.trimEnd()
  for (let found = head.exec(body); found !== null; found = head.exec(body)) {
    const end = body.indexOf('\n\n')
    types.push([found.slice(1).find(Boolean) ?? '', body.slice(0, end)])
    body = body.slice(end + 2)
  }
  return { types, body }
}
