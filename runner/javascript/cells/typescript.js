/* Removes the types of TypeScript, on the same lines and columns. Loaded late: few cells need it. */
'use strict'
const nodeModule = require('node:module')

/**
 * Returns the code without types; undefined when this Node.js can't remove them.
 *
 * @throws SyntaxError for code that is no TypeScript either, and for syntax that is more than types, such as an enum
 */
function stripTypes(source) {
  const { stripTypeScriptTypes } = nodeModule
  return stripTypeScriptTypes?.(source, { mode: 'strip' })
}

module.exports = { stripTypes }
