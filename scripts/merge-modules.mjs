// Merges the modules of `dist` that a process loads together into a few files, because Node needs half of the start of a
// worker to find, read and link hundreds of modules. A module that was merged becomes a file that exports it again: the
// paths in `dist` stay, and each module exists once in a process.
import { readFileSync, rmSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { rolldown } from 'rolldown'
import { root } from './setup.mjs'

const target = 'merged'

/** The stack of a tool ends at frames of these files: src/tools/calls/thrown.ts. */
const ownFiles = ['tools/calls/run-tool.js', 'worker/uncaught-errors.js']

/**
 * Modules that a process loads at the same time. A merged file has the modules that the same entries reach by static
 * imports, so an entry never loads a module that it does not import.
 */
const entries = {
  cli: ['cli/program.js', 'cli/process/report-error.js'],
  // `ptc worker`: src/cli/commands/processes/worker.ts.
  worker: ['cli-worker', 'project', 'run-until-stopped', 'server'].map((name) => `cli/environment/${name}.js`),
  // The other commands: src/cli/environment/with-environment.ts.
  command: ['cli/environment/environment.js'],
  watchdog: ['worker/watchdog/thread.js'],
  ...entryPoints(),
  ...Object.fromEntries(ownFiles.map((path) => [nameOf(path), [path]])),
}

/** Users bundle workflow code, so it stays as it is, with all that it imports. */
function isKept(path) {
  return /^(workflows|common)\//.test(path) || ownFiles.includes(path)
}

/** The files that `package.json` exports. */
function entryPoints() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const paths = Object.values(exports).flatMap((each) => each.default?.replace('./dist/', '') ?? [])
  return Object.fromEntries(paths.filter((path) => !isKept(path)).map((path) => [nameOf(path), [path]]))
}

function nameOf(path) {
  return path.replace(/(\/index)?\.js$/, '').replaceAll('/', '-')
}

/** @returns the paths of the merged files, in the folder */
export async function mergeModules(folder) {
  rmSync(join(folder, target), { recursive: true, force: true })
  const pathOf = (id) => relative(folder, id).split(sep).join('/')
  const resolve = resolver(folder, pathOf)
  const groups = await groupsOf(folder, resolve, pathOf)
  const names = [...new Set(groups.values())]
  const build = await rolldown({
    input: Object.fromEntries([...groups.keys()].map((id) => [pathOf(id).slice(0, -'.js'.length), id])),
    platform: 'node',
    // Modules may have effects when they are loaded, and each export is an export of a file.
    treeshake: false,
    preserveEntrySignatures: 'strict',
    plugins: [resolve],
  })
  const { output } = await build.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: `${target}/[name].js`,
    minifyInternalExports: false,
    codeSplitting: {
      groups: names.map((name, index) => ({
        name: `${name.split('+')[0]}-${index}`,
        test: (id) => groups.get(id) === name,
        // A group takes what its modules import, unless another group has it.
        priority: name.split('+').length,
      })),
    },
  })
  await build.close()
  return output.map(({ fileName }) => fileName).filter((path) => path.startsWith(`${target}/`))
}

/** The names of the entries that reach a module, by its id. */
async function groupsOf(folder, resolve, pathOf) {
  const groups = new Map()
  const collect = {
    name: 'collect',
    buildEnd() {
      for (const [name, paths] of Object.entries(entries)) {
        const seen = new Set()
        const visit = (id) => {
          if (seen.has(id)) return
          seen.add(id)
          const real = id.startsWith('dist:') && isKept(id.slice(5)) ? join(folder, id.slice(5)) : id
          const info = this.getModuleInfo(real)
          if (!info || !real.startsWith(folder)) return
          if (!isKept(pathOf(real))) groups.set(real, [...(groups.get(real) ?? []), name])
          info.importedIds.forEach(visit)
        }
        for (const path of paths) visit(join(folder, path))
      }
    },
  }
  const input = Object.values(entries)
    .flat()
    .map((path) => join(folder, path))
  const build = await rolldown({ input, platform: 'node', plugins: [resolve, collect] })
  await build.generate()
  await build.close()
  return new Map([...groups].map(([id, names]) => [id, names.join('+')]))
}

/** A plugin for imports of files that are not merged: `dist:` and the path, until the file with the import is known. */
function resolver(folder, pathOf) {
  return {
    name: 'resolve',
    resolveId(source, importer, { kind }) {
      if (importer === undefined) return undefined
      if (!source.startsWith('.')) return { id: source, external: true }
      const id = join(importer, '..', source)
      const isOutside = kind === 'dynamic-import' || isKept(pathOf(id))
      return isOutside ? { id: `dist:${pathOf(id)}`, external: true } : { id }
    },
    transform(code, id) {
      if (!code.includes('import.meta.url')) return undefined
      return code.replaceAll('import.meta.url', `new URL('dist:${pathOf(id)}', import.meta.url).href`)
    },
    renderChunk(code, { fileName }) {
      const from = join(folder, fileName, '..')
      return code.replace(/(["'])dist:([^"']+)\1/g, (_, quote, path) => {
        const to = relative(from, join(folder, path)).split(sep).join('/')
        return `${quote}${to.startsWith('.') ? to : `./${to}`}${quote}`
      })
    },
  }
}
