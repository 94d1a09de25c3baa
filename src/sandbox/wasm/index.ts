export { createWasmBackend, type WasmBackendOptions } from './backend.js'
