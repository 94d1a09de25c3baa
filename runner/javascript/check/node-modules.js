/* What the check must know of modules in Node.js. */
'use strict'
const { isBuiltin } = require('node:module')

/** Whether an import of the module may define globals. */
const isPackage = (name) => !isBuiltin(name)

/** Returns a sentence about an undefined name that is a module. */
const hintFor = (name) => (isBuiltin(name) ? `Write \`import ${name} from 'node:${name}'\`.` : undefined)

module.exports = { hintFor, isPackage }
