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
    return withOwnPush(() => stripTypeScriptTypes(source, { mode: 'strip' }))
  } catch (error) {
    if (error.name === 'SyntaxError') throw error
    // Code nested over a thousand deep ends the memory of the remover, which then refuses all code.
    obstacle = "types can't be removed any more: the session has had code that is nested too deeply for that"
    throw new SyntaxError("types can't be removed from code that is nested this deeply")
  }
}

/** Of the arrays of Node's own modules, which are those of the program. */
const prototype = Object.getPrototypeOf(process.execArgv)
const ownPush = Object.getOwnPropertyDescriptor(prototype, 'push')

/** Node's remover of types uses `push`, which the program may have replaced. */
function withOwnPush(work) {
  const replaced = Object.getOwnPropertyDescriptor(prototype, 'push')
  if (replaced?.value === ownPush.value || replaced?.configurable === false) return work()
  Object.defineProperty(prototype, 'push', ownPush)
  try {
    return work()
  } finally {
    if (replaced === undefined) delete prototype.push
    else Object.defineProperty(prototype, 'push', replaced)
  }
}

module.exports = { obstacleToTypes, stripTypes }
