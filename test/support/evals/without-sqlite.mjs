// node --import without-sqlite.mjs: the package better-sqlite3 is not installed.
import { register } from 'node:module'

const hooks = `export async function resolve(specifier, context, next) {
  if (specifier !== 'better-sqlite3') return next(specifier, context)
  const error = new Error("Cannot find package 'better-sqlite3'")
  throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' })
}`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
