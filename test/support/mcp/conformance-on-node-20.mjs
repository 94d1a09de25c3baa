// The conformance suite of MCP imports a function that Node has since version 22, and that it needs only for files of
// its own repository. This module adds the name to Node 20.
import { register } from 'node:module'

const fileSystem = `data:text/javascript,export * from 'node:fs'; export const globSync = () => []`
const hooks = `
export async function resolve(specifier, context, next) {
  const isSuite = context.parentURL?.includes('/@modelcontextprotocol/conformance/')
  return isSuite && specifier === 'fs' ? { url: ${JSON.stringify(fileSystem)}, shortCircuit: true } : next(specifier, context)
}`

register(`data:text/javascript,${encodeURIComponent(hooks)}`)
