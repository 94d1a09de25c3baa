// Runs inside the empty realm (realm.mjs), before any program. The program can access all properties of globals, and of
// every object that is passed to Python. So the bindings stay in closures.

const interruptSignal = 2 // SIGINT
const interruptCheckMs = 20
/** The file for printed output, until the runner reads it; program/output.py has the same name. */
const outputFile = '/dev/output'
/** The name of the boot image among the files for Pyodide; main.mjs has the same name. */
const bootImage = '/pyodide/boot.image'

/**
 * Wraps the bindings in functions of this realm that throw only errors of this realm. A program can use up the stack,
 * so that a binding overflows it before its own code runs. The error object would give access to Node's realm.
 */
export function wrapHostBindings(bindings) {
  const wrap = (binding) => {
    return (...values) => {
      try {
        return binding(...values)
      } catch {
        throw new RangeError('host call failed')
      }
    }
  }
  return Object.freeze(Object.fromEntries(Object.entries(bindings).map(([name, binding]) => [name, wrap(binding)])))
}

/**
 * Defines the globals that Pyodide looks for in a bare JavaScript shell. Must run before its modules are evaluated.
 *
 * @param filesByName the files that Pyodide reads, each once
 */
export function defineGlobals(bindings, filesByName) {
  const text = (values) => values.map((value) => String(value?.stack ?? value)).join(' ')
  const log = (...values) => void bindings.log(text(values))
  const define = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
  define('console', { log, info: log, warn: log, error: log, debug: log })
  define('performance', { now: () => bindings.now() })
  // The runner never returns to an event loop, so no timer would ever fire.
  define('setTimeout', () => 0)
  define('clearTimeout', () => {})
  // In a shell Pyodide gets random bytes by a command line with the number of bytes, and expects Base64.
  define('os', { system: (_shell, [, command]) => bindings.randomBase64(Number(/^head -c(\d+) /.exec(command)?.[1])) })
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
        const decoded = bindings.decode(view, this.#encoding, this.#fatal, this.#ignoreBOM)
        if (decoded === null) throw new TypeError(`not ${this.#encoding}`)
        return decoded
      }
    },
  )
  define('readbuffer', (name) => {
    if (!Object.hasOwn(filesByName, name)) throw new Error(`there is no file ${name}`)
    const copy = Uint8Array.from(filesByName[name]).buffer
    delete filesByName[name]
    return copy
  })
  // Pyodide detects a shell by these globals.
  define('read', () => {
    throw new Error('there are no files')
  })
  define('load', () => {
    throw new Error('there are no scripts')
  })
}

/** Returns the options of Pyodide, for a boot and for a restore from the boot image. */
function loadOptions(createPyodideModule, lock) {
  return {
    createPyodideModule,
    lockFileContents: lock,
    indexURL: '/pyodide',
    // All sandboxes have the same hash seed: a repeated program must iterate its sets in the same order.
    env: { HOME: '/tmp', PATH: '', LANG: 'C.UTF-8', PYTHONHASHSEED: '0' },
  }
}

/** Writes the memory of a booted Python that has not run a program to the host. */
export async function makeBootImage(bindings, loadPyodide, createPyodideModule, settings) {
  const { lock } = JSON.parse(settings)
  // Pyodide needs it for the head of the image, which is text.
  globalThis.TextEncoder = class TextEncoder {
    encodeInto(text, view) {
      const bytes = Uint8Array.from(unescape(encodeURIComponent(text)), (character) => character.charCodeAt(0))
      view.set(bytes)
      return { read: text.length, written: bytes.length }
    }
  }
  const pyodide = await loadPyodide({ ...loadOptions(createPyodideModule, lock), _makeSnapshot: true })
  pyodide.runPython(runnerImports)
  if (bindings.write(pyodide.makeMemorySnapshot()) < 0) throw new Error('the host does not read the boot image')
}

/** The imports of the runner's start-up code. They run in any case, so they may be in the boot image. */
const runnerImports = 'import asyncio, runpy, sys'

/** `random` was seeded when the image was created, and Pyodide adds an entry to `sys.path` a second time. */
const undoBootState = `
import random, sys
random.seed()
sys.path.remove('')
`

/** Loads Pyodide, with the files and packages of the sandbox. */
async function loadInterpreter(bindings, loadPyodide, createPyodideModule, { lock, hasBootImage, mounted, packages }) {
  const pyodide = await loadPyodide({
    ...loadOptions(createPyodideModule, lock),
    ...(hasBootImage ? { _loadSnapshot: globalThis.readbuffer(bootImage) } : {}),
  })
  for (const folder of mounted) mountFiles(pyodide.FS, folder, globalThis.readbuffer)
  delete globalThis.readbuffer
  if (hasBootImage) pyodide.runPython(undoBootState)
  if (packages !== undefined) pyodide.runPython(`import sys\nsys.path.append('${packages}')`)
  connectStreams(pyodide, bindings)
  return pyodide
}

/** Defines the folder of the packages, and the paths of the native modules in it. */
const findModules = `
import _ctypes, importlib.machinery, importlib.metadata, json, os, re, sys
folder = sys.path[-1]
paths = [os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names]
modules = [path for path in paths if path.endswith(importlib.machinery.EXTENSION_SUFFIXES[0])]
'\\n'.join(modules)
`

const writePackages = `
entry = re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99} [A-Za-z0-9][A-Za-z0-9._+!~-]{0,59}")
found = {f"{each.metadata['Name']} {each.version}" for each in importlib.metadata.distributions(path=[folder])}
names = sorted(filter(entry.fullmatch, found), key=str.lower)[:60]
answer = {"names": names, "more": len(found) - len(names), "bytes": sum(map(os.path.getsize, paths))}
text = json.dumps(answer).encode()
while text:
    text = text[os.write(1, text):]
`

/**
 * Links the native modules, which executes no code of Python, and writes the names of the packages to the host, as JSON.
 */
export async function listPackages(bindings, loadPyodide, createPyodideModule, settings) {
  const pyodide = await loadInterpreter(bindings, loadPyodide, createPyodideModule, JSON.parse(settings))
  const modules = pyodide.runPython(findModules)
  for (const path of modules === '' ? [] : modules.split('\n')) {
    try {
      pyodide.runPython(`_ctypes.dlopen(${JSON.stringify(path)}, os.RTLD_NOW)`)
    } catch (error) {
      throw new Error(`${path}: ${String(error).trim().split('\n').at(-1)}`, { cause: error })
    }
  }
  pyodide.runPython(writePackages)
}

/** Runs the Python runner until the host closes the pipe. */
export async function startRunner(bindings, loadPyodide, createPyodideModule, settings) {
  const { runner, quotas, ...others } = JSON.parse(settings)
  const pyodide = await loadInterpreter(bindings, loadPyodide, createPyodideModule, others)
  pyodide.setInterruptBuffer(interruptBuffer(bindings))
  for (const [name, source] of Object.entries(runner)) {
    const path = `/runner${name}`
    pyodide.FS.mkdirTree(path.slice(0, path.lastIndexOf('/')))
    pyodide.FS.writeFile(path, source)
  }
  pyodide.FS.writeFile(outputFile, '')
  pyodide.FS.chdir('/tmp')
  enforceFileQuotas(pyodide.FS, quotas)
  // Pyodide leaves its own event loop marked as running, but the runner starts another one. Control never returns to
  // the JavaScript event loop: the runner waits in a blocking read.
  pyodide.runPython(`
${runnerImports}
asyncio._set_running_loop(None)
sys.argv = ['/runner/runner.py']
runpy.run_path('/runner/runner.py', run_name='__main__')
`)
}

const readOnly = 69 // EROFS, in WASI's numbers

/**
 * Mounts files in a file system of their own, and then refuses every change of it. They do not count towards the quota.
 * A program that uses JavaScript can change them, for itself only.
 */
function mountFiles(FS, { root, list }, readBytes) {
  const { MEMFS } = FS.filesystems
  FS.mkdir(root)
  FS.mount(MEMFS, {}, root)
  for (const { path } of list) FS.mkdirTree(path.slice(0, path.lastIndexOf('/')))
  for (const { path, isExecutable } of list) {
    FS.writeFile(path, new Uint8Array(readBytes(path)))
    FS.chmod(path, isExecutable ? 0o555 : 0o444)
  }
  const refuse = () => {
    throw new FS.ErrnoError(readOnly)
  }
  const withRefused = (operations, names) => {
    const refused = Object.fromEntries(names.filter((name) => name in operations).map((name) => [name, refuse]))
    return Object.freeze({ ...operations, ...refused })
  }
  const nodeChanges = ['setattr', 'mknod', 'rename', 'unlink', 'rmdir', 'symlink']
  const streamChanges = ['write', 'allocate', 'msync']
  const protect = (node) => {
    if (FS.isDir(node.mode)) {
      node.mode = (node.mode & ~0o777) | 0o555
      for (const child of Object.values(node.contents)) protect(child)
    }
    node.node_ops = withRefused(node.node_ops, nodeChanges)
    node.stream_ops = withRefused(node.stream_ops, streamChanges)
  }
  protect(FS.lookupPath(root).node)
}

/** Connects the descriptors of Python as raw bytes: 0 and 1 carry the protocol, 2 carries crash reports. */
function connectStreams(pyodide, bindings) {
  const checked = (count) => {
    if (count < 0) throw new pyodide.FS.ErrnoError(29) // EIO
    return count
  }
  // On a fatal error the interpreter prints its traceback to stdout, which would corrupt the protocol here.
  let write = bindings.write
  const { _api: internals } = pyodide
  const fatalError = internals.fatal_error
  internals.fatal_error = (error) => {
    write = bindings.writeError
    return fatalError(error)
  }
  pyodide.setStdin({ read: (view) => checked(bindings.read(view)), isatty: false })
  pyodide.setStdout({ write: (view) => checked(write(view)), isatty: false })
  pyodide.setStderr({ write: (view) => checked(bindings.writeError(view)), isatty: false })
}

/**
 * Returns the interrupt buffer. Python reads element 0 every few dozen instructions. The host is polled at most every
 * 20 ms.
 */
function interruptBuffer(bindings) {
  let next = 0
  return {
    get 0() {
      const now = bindings.now()
      if (now < next) return 0
      next = now + interruptCheckMs
      return bindings.interrupted() ? interruptSignal : 0
    },
    set 0(_value) {},
  }
}

const noSpace = 51 // ENOSPC, in WASI's numbers
const fileTooLarge = 22 // EFBIG
/** Smaller files that grow get twice their size. */
const doublingBytes = 1 << 20

/**
 * Enforces quotas of the in-memory file system, with the errors of a disk. A program that uses JavaScript can remove
 * the quotas. Then only the memory limit of the process applies.
 */
function enforceFileQuotas(FS, { tmpBytes, maxFiles, maxOpenFiles }) {
  const { MEMFS } = FS.filesystems
  FS.MAX_OPEN_FDS = maxOpenFiles
  const before = measureFiles(FS)
  const output = FS.lookupPath(outputFile).node
  let used = before

  const reserve = (bytes, inodes) => {
    const fits = () => used.bytes + bytes <= before.bytes + tmpBytes && used.inodes + inodes <= before.inodes + maxFiles
    // Only additions are tracked. When the quota seems exhausted, the files are measured again.
    if (!fits()) used = measureFiles(FS)
    if (!fits()) throw new FS.ErrnoError(noSpace)
    used = { bytes: used.bytes + bytes, inodes: used.inodes + inodes }
  }
  const capacity = (node) => node.contents?.length ?? 0
  /** A growing file is copied. The kernel's limit on memory must not end the interpreter. */
  const withinMemory = (change) => {
    try {
      return change()
    } catch (error) {
      throw error instanceof RangeError ? new FS.ErrnoError(noSpace) : error
    }
  }
  /**
   * Gives a file that grows more than it needs, so that it is not copied with each write. The file system itself would
   * do so over the quota.
   */
  const expand = (node, size) => {
    const { contents, usedBytes } = node
    if (usedBytes === 0 || size <= contents.length) return
    const left = before.bytes + tmpBytes - used.bytes
    const spare = contents.length < doublingBytes ? contents.length : contents.length >> 3
    node.contents = new Uint8Array(size + Math.min(spare, left))
    node.contents.set(contents.subarray(0, usedBytes))
  }
  /** Makes a file larger, within the quota. */
  const grow = (node, size, change) => {
    if (size > tmpBytes) throw new FS.ErrnoError(fileTooLarge)
    if (node === output) {
      // A program that has filled its quota can still print. Without this, the file system grows a large file by an
      // eighth each time, and leaves nine times its size to the garbage collector: the process could reach its memory
      // limit.
      if (size > capacity(node)) MEMFS.expandFileStorage(node, Math.min(tmpBytes, 2 * capacity(node)))
      return change()
    }
    const reserved = Math.max(size, capacity(node))
    reserve(reserved - capacity(node), 0)
    const result = withinMemory(change)
    used = { ...used, bytes: used.bytes + Math.max(capacity(node) - reserved, 0) }
    return result
  }

  const { createNode, resizeFileStorage } = MEMFS
  MEMFS.createNode = (...parameters) => {
    reserve(0, 1)
    return createNode(...parameters)
  }
  MEMFS.resizeFileStorage = (node, size) => {
    grow(node, size, () => resizeFileStorage(node, size))
  }
  const operations = MEMFS.ops_table.file.stream
  const { write } = operations
  operations.write = (stream, buffer, offset, length, position, canOwn) => {
    const { node } = stream
    const size = position + length
    return grow(node, size, () => {
      if (node !== output) expand(node, size)
      return write(stream, buffer, offset, length, position, canOwn)
    })
  }
}

/** Measures bytes and nodes of all files that have a name or are open. */
function measureFiles(FS) {
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
