// Runs inside the empty realm (realm.mjs), before any of the program does. Whatever is reachable from here on a global or
// on an object that Python can touch belongs to the program; the doors stay in closures.

const interruptSignal = 2 // SIGINT
const interruptCheckMs = 20
/** What Python prints, until the runner reads it; output.py knows the name too. */
const outputFile = '/dev/output'
/** The name of the boot image among the files of the library; main.mjs knows it too. */
const bootImage = '/pyodide/boot.image'

/**
 * The doors as functions of this realm that throw only errors of this realm. A program can bring the stack so near its end
 * that a door overflows it before its own code runs, and that error object would be a handle on the realm behind it.
 */
export function closeDoors(doors) {
  const close = (door) => {
    return (...values) => {
      try {
        return door(...values)
      } catch {
        throw new RangeError('the host can not be asked now')
      }
    }
  }
  return Object.freeze(Object.fromEntries(Object.entries(doors).map(([name, door]) => [name, close(door)])))
}

/** The globals that Pyodide looks for in a bare shell; first, before its modules are even evaluated. */
export function furnish(doors, library) {
  const text = (values) => values.map((value) => String(value?.stack ?? value)).join(' ')
  const log = (...values) => void doors.log(text(values))
  const define = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
  define('console', { log, info: log, warn: log, error: log, debug: log })
  define('performance', { now: () => doors.now() })
  // The runner never returns to an event loop, so no timer would ever fire.
  define('setTimeout', () => 0)
  define('clearTimeout', () => {})
  // How Pyodide gets randomness in a shell: a command line that asks for so many bytes of it in Base64.
  define('os', { system: (_shell, [, command]) => doors.random(Number(/^head -c(\d+) /.exec(command)?.[1])) })
  define(
    'TextDecoder',
    class TextDecoder {
      #encoding
      #fatal
      #ignoreBOM
      constructor(encoding = 'utf-8', { fatal = false, ignoreBOM = false } = {}) {
        this.#encoding = encoding
        this.#fatal = fatal
        this.#ignoreBOM = ignoreBOM
      }

      decode(view = new Uint8Array()) {
        const decoded = doors.decode(view, this.#encoding, this.#fatal, this.#ignoreBOM)
        if (decoded === null) throw new TypeError(`not ${this.#encoding}`)
        return decoded
      }
    },
  )
  define('readbuffer', (name) => {
    if (!Object.hasOwn(library, name)) throw new Error(`there is no file ${name}`)
    const copy = Uint8Array.from(library[name]).buffer
    delete library[name]
    return copy
  })
  // What tells a shell from a browser.
  define('read', () => {
    throw new Error('there are no files')
  })
  define('load', () => {
    throw new Error('there are no scripts')
  })
}

/** What Python is loaded with, whether it boots or is laid over the memory of one that did. */
function loadOptions(createPyodideModule, lock) {
  return {
    createPyodideModule,
    lockFileContents: lock,
    indexURL: '/pyodide',
    // The hash seed of the other sandboxes: a program that is run again must see its sets in the same order.
    env: { HOME: '/tmp', PATH: '', LANG: 'C.UTF-8', PYTHONHASHSEED: '0' },
  }
}

/** Writes the memory of a Python that has just booted, and has seen nothing of any program, to the host. */
export async function makeBootImage(doors, loadPyodide, createPyodideModule, settings) {
  const { lock } = JSON.parse(settings)
  // For the head of the image, which is text.
  globalThis.TextEncoder = class TextEncoder {
    encodeInto(text, view) {
      const bytes = Uint8Array.from(unescape(encodeURIComponent(text)), (character) => character.charCodeAt(0))
      view.set(bytes)
      return { read: text.length, written: bytes.length }
    }
  }
  const pyodide = await loadPyodide({ ...loadOptions(createPyodideModule, lock), _makeSnapshot: true })
  pyodide.runPython(imports)
  if (doors.write(pyodide.makeMemorySnapshot()) < 0) throw new Error('nobody takes the boot image')
}

/** What the runner is started with; imported before it in any case, so it may be in the boot image. */
const imports = 'import asyncio, runpy, sys'

/** `random` drew its seed when the image was made, and Pyodide has put an entry of the path there once more. */
const asIfBooted = `
import random, sys
random.seed()
sys.path.remove('')
`

/** Loads Pyodide and runs the Python runner until the host goes away. */
export async function start(doors, loadPyodide, createPyodideModule, settings) {
  const { lock, runner, quotas, hasBootImage } = JSON.parse(settings)
  const pyodide = await loadPyodide({
    ...loadOptions(createPyodideModule, lock),
    ...(hasBootImage ? { _loadSnapshot: globalThis.readbuffer(bootImage) } : {}),
  })
  delete globalThis.readbuffer
  if (hasBootImage) pyodide.runPython(asIfBooted)
  connectStreams(pyodide, doors)
  pyodide.setInterruptBuffer(interruptBuffer(doors))
  for (const [name, source] of Object.entries(runner)) {
    const path = `/runner${name}`
    pyodide.FS.mkdirTree(path.slice(0, path.lastIndexOf('/')))
    pyodide.FS.writeFile(path, source)
  }
  pyodide.FS.writeFile(outputFile, '')
  pyodide.FS.chdir('/tmp')
  limitFiles(pyodide.FS, quotas)
  // Pyodide leaves a loop of its own marked as running, and the runner brings its own. Nothing may come back to the
  // JavaScript event loop: the runner's blocking read is the wait.
  pyodide.runPython(`
${imports}
asyncio._set_running_loop(None)
sys.argv = ['/runner/runner.py']
runpy.run_path('/runner/runner.py', run_name='__main__')
`)
}

/** Raw bytes: descriptors 0 and 1 are the protocol's, 2 is for crash reports. */
function connectStreams(pyodide, doors) {
  const checked = (count) => {
    if (count < 0) throw new pyodide.FS.ErrnoError(29) // EIO
    return count
  }
  // A dying interpreter dumps its traceback on standard output, which here would be noise between two frames.
  let write = doors.write
  const { _api: internals } = pyodide
  const fatalError = internals.fatal_error
  internals.fatal_error = (error) => {
    write = doors.writeError
    return fatalError(error)
  }
  pyodide.setStdin({ read: (view) => checked(doors.read(view)), isatty: false })
  pyodide.setStdout({ write: (view) => checked(write(view)), isatty: false })
  pyodide.setStderr({ write: (view) => checked(doors.writeError(view)), isatty: false })
}

/** Python looks at element 0 every few dozen instructions; the host is asked at most every 20 ms. */
function interruptBuffer(doors) {
  let next = 0
  return {
    get 0() {
      const now = doors.now()
      if (now < next) return 0
      next = now + interruptCheckMs
      return doors.interrupted() ? interruptSignal : 0
    },
    set 0(_value) {},
  }
}

const noSpace = 51 // ENOSPC, in WASI's numbers
const fileTooLarge = 22 // EFBIG

/**
 * Quotas of the in-memory file system, with the answers a disk would give. A program that goes to JavaScript can undo
 * them; then the memory limit of the process is what is left.
 */
function limitFiles(FS, { tmpBytes, tmpInodes, fileBytes, openFiles }) {
  const { MEMFS } = FS.filesystems
  FS.MAX_OPEN_FDS = openFiles
  const before = measure(FS)
  const output = FS.lookupPath(outputFile).node
  let used = before

  const room = (bytes, inodes) => {
    const fits = () =>
      used.bytes + bytes <= before.bytes + tmpBytes && used.inodes + inodes <= before.inodes + tmpInodes
    // Only additions are tracked; what was deleted shows when it matters.
    if (!fits()) used = measure(FS)
    if (!fits()) throw new FS.ErrnoError(noSpace)
    used = { bytes: used.bytes + bytes, inodes: used.inodes + inodes }
  }
  const capacity = (node) => node.contents?.length ?? 0
  /** Makes a file larger, if there is room for it. */
  const grow = (node, size, change) => {
    if (size > fileBytes) throw new FS.ErrnoError(fileTooLarge)
    if (node === output) return change() // a program that has filled its quota can still print
    const held = Math.max(size, capacity(node))
    room(held - capacity(node), 0)
    const result = change()
    // Memory is taken ahead of need: a file that grows in small pieces doubles again and again.
    used = { ...used, bytes: used.bytes + Math.max(capacity(node) - held, 0) }
    return result
  }

  const { createNode, resizeFileStorage } = MEMFS
  MEMFS.createNode = (...parameters) => {
    room(0, 1)
    return createNode(...parameters)
  }
  MEMFS.resizeFileStorage = (node, size) => {
    grow(node, size, () => resizeFileStorage(node, size))
  }
  const operations = MEMFS.ops_table.file.stream
  const { write } = operations
  operations.write = (stream, buffer, offset, length, position, canOwn) => {
    return grow(stream.node, position + length, () => write(stream, buffer, offset, length, position, canOwn))
  }
}

/** Bytes and nodes of every file that has a name or is open. */
function measure(FS) {
  const nodes = new Set()
  const visit = (node) => {
    if (nodes.has(node)) return
    nodes.add(node)
    if (FS.isDir(node.mode) && !ArrayBuffer.isView(node.contents)) Object.values(node.contents ?? {}).forEach(visit)
  }
  visit(FS.root)
  for (const stream of FS.streams) if (stream?.node) visit(stream.node)
  let bytes = 0
  for (const { contents } of nodes) if (ArrayBuffer.isView(contents)) bytes += contents.byteLength
  return { bytes, inodes: nodes.size }
}
