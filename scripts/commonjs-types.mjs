// The types of the entry points for CommonJS projects (`.d.cts`). Node loads ES modules with `require`. TypeScript
// accepts that in `module: nodenext`, and reports TS1479 in `node16` unless the types are CommonJS. Each file declares
// only the exports of the ES module next to it: a type is the same in both kinds of projects.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './setup.mjs'

/** Paths in `dist`, without extension, of the entry points in package.json that have types for CommonJS. */
function entryPoints() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return Object.values(exports).flatMap(({ require }) => {
    const [, stem] = /^\.\/dist\/(.+)\.d\.cts$/.exec(require?.types ?? '') ?? []
    return stem === undefined ? [] : [stem]
  })
}

/** Paths in `dist`. */
export function commonJsTypeFiles() {
  return entryPoints().map((stem) => `${stem}.d.cts`)
}

/** Writes the files from the compiled types of the entry points. */
export function writeCommonJsTypes(dist) {
  for (const stem of entryPoints()) {
    const path = join(dist, `${stem}.d.ts`)
    writeFileSync(join(dist, `${stem}.d.cts`), declare(path, `./${stem.slice(stem.lastIndexOf('/') + 1)}.js`))
  }
}

function declare(path, module) {
  const exported = exportsOf(path)
  const types = exported.filter(({ kind }) => kind === 'type').map(({ name }) => name)
  const values = exported.filter(({ kind }) => kind !== 'type')
  const mode = "with { 'resolution-mode': 'import' }"
  return [
    ...(types.length > 0 ? [`export type { ${types.join(', ')} } from '${module}' ${mode};`] : []),
    ...(values.length > 0 ? [`import type * as esm from '${module}' ${mode};`] : []),
    ...values.flatMap(({ name, kind }) => [
      `export declare const ${name}: typeof esm.${name};`,
      ...(kind === 'class' ? [`export type ${name} = esm.${name};`] : []),
    ]),
    '',
  ].join('\n')
}

/** The exports of a module that only exports from other modules: `kind` is `type`, `value` or `class`. */
function exportsOf(path) {
  const text = readFileSync(path, 'utf8')
  const statements = [...text.matchAll(/^export (type )?\{([^}]*)\} from '([^']+)';$/gm)]
  if (statements.length !== [...text.matchAll(/^export /gm)].length) {
    throw new Error(`${path} has exports of its own, which scripts/commonjs-types.mjs does not read`)
  }
  return statements.flatMap(([, isTypeOnly, list, module]) =>
    list
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map((item) => {
        const name = item.replace(/^type /, '')
        const isType = isTypeOnly !== undefined || name !== item
        return { name, kind: isType ? 'type' : kindOf(name, join(dirname(path), module)) }
      }),
  )
}

/** Whether a value is a class, which is a type as well. Follows modules that pass the value on. */
function kindOf(name, module) {
  const text = readFileSync(module.replace(/\.js$/, '.d.ts'), 'utf8')
  if (new RegExp(`^export (declare )?(abstract )?class ${name}\\b`, 'm').test(text)) return 'class'
  const [, from] = new RegExp(`^export \\{[^}]*\\b${name}\\b[^}]*\\} from '([^']+)';$`, 'm').exec(text) ?? []
  return from === undefined ? 'value' : kindOf(name, join(dirname(module), from))
}
