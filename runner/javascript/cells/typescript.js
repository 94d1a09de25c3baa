/* Removes the types of TypeScript, on the same lines and columns. */
'use strict'
// An embedded sandbox has no modules of Node.js later.
const { stripTypeScriptTypes } = require('node:module')

const canStripTypes = stripTypeScriptTypes !== undefined

/**
 * Returns the code without types; undefined when this Node.js can't remove them.
 *
 * @throws SyntaxError for code that is no TypeScript either, and for syntax that is more than types, such as an enum
 */
function stripTypes(source) {
  return stripTypeScriptTypes?.(source, { mode: 'strip' })
}

module.exports = { canStripTypes, stripTypes }
