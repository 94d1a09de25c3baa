import vm from 'node:vm'

/**
 * A JavaScript realm with the language in it and nothing else: no `process`, no `require`, no `import`, no `fetch`, no
 * timers. Python reaches JavaScript by design (`import js`), so what it finds there is what it has. Pyodide sees neither
 * Node nor a browser here and takes itself for a bare shell; it never holds `fs` or `child_process` in the first place,
 * which is why `os.system` answers "not supported" and nothing needs to be taken away from it.
 *
 * Code from strings (`eval`, `Function`, and so `emscripten_run_script`) is off in the realm, and for the whole process
 * by a V8 flag. A realm alone is not a security boundary: the layers around it are there for the day it leaks.
 */
export function makeRealm() {
  const context = vm.createContext(Object.create(null), {
    name: 'sandbox',
    codeGeneration: { strings: false, wasm: true },
  })
  return {
    /** Evaluates an ES module in the realm and gives its exports; it can import nothing. */
    async load(name, source) {
      const module = new vm.SourceTextModule(source, {
        context,
        identifier: `sandbox:${name}`,
        initializeImportMeta: (meta) => {
          meta.url = `sandbox:${name}`
        },
      })
      await module.link((specifier) => {
        throw new Error(`nothing can be imported here: ${specifier}`)
      })
      await module.evaluate()
      return module.namespace
    },
  }
}
