import vm from 'node:vm'

/**
 * Creates a JavaScript realm that has only the language: no `process`, no `require`, no `import`, no `fetch`, no
 * timers. Python can reach JavaScript by design (`import js`), but finds only this realm. Pyodide detects neither Node
 * nor a browser here, and treats the realm as a bare JavaScript shell. The realm never has `fs` or `child_process`, so
 * `os.system` returns "not supported", and nothing has to be removed from it.
 *
 * Code from strings (`eval`, `Function`, and so `emscripten_run_script`) is off in the realm, and in the whole process
 * by a V8 flag. A realm alone is not a security boundary: the other layers are defence in depth against a leaked object
 * of Node.
 */
export function createRealm() {
  const context = vm.createContext(Object.create(null), {
    name: 'sandbox',
    codeGeneration: { strings: false, wasm: true },
  })
  return {
    /** Evaluates an ES module in the realm and returns its exports. The module can import nothing. */
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
