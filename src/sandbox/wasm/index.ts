/**
 * The embedded backend: Python, JavaScript and TypeScript without Docker.
 *
 * Owns: child processes of this worker with Pyodide or QuickJS, the cache of the boot image, the detection of jail layers. Boundary:
 * implements `SandboxBackend`. A sandbox lives in the memory of one worker and ends with it. The code that runs in the
 * child process is in runner/wasm and runner/quickjs. README.md describes the isolation.
 *
 * Invariants:
 * 1. A child process gets only the environment variable TZ.
 * 2. The child reads all its files before it strips Node, and strips Node before any program runs.
 * 3. `check` reports a missing jail layer. No layer is assumed to exist.
 * 4. Output that is not read stays in the pipe, and the child waits.
 * 5. An interpreter serves one session, and is never used again.
 * 6. No object of Node's realm reaches the program: host bindings take and return numbers, strings and byte views.
 *
 * 7. All interpreters of a backend have the wheels that were read first, by their content.
 *
 * Folders: jail (command line, layers); interpreter (process, pool, boot image), which imports jail; wheels (packages).
 */
export { createWasmBackend, type WasmBackend, type WasmBackendOptions } from './backend.js'
