/* Removes the types of TypeScript, on the same lines and columns. */
'use strict'
// An embedded sandbox has no modules of Node.js later.
const { stripTypeScriptTypes } = require('node:module')

const NODE = process.versions.node

/** Why types can't be removed; undefined while they can. */
let obstacle = stripTypeScriptTypes ? undefined : `Node.js ${NODE} can't remove the types of TypeScript (22.13 can)`

const obstacleToTypes = () => obstacle

/**
 * Returns the code without types.
 *
 * @throws SyntaxError for code that is no TypeScript either, for syntax that is more than types, such as an enum, and
 *   when types can't be removed
 */
function stripTypes(source) {
  if (obstacle !== undefined) throw new SyntaxError(obstacle)
  try {
    return stripTypeScriptTypes(source, { mode: 'strip' })
  } catch (error) {
    if (error.name === 'SyntaxError') throw error
    // Code nested over a thousand deep ends the memory of the remover, which then refuses all code.
    obstacle = "types can't be removed any more: the session has had code that is nested too deeply for that"
    throw new SyntaxError("types can't be removed from code that is nested this deeply")
  }
}

module.exports = { obstacleToTypes, stripTypes }
