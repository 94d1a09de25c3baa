export { type ConformanceCase, type ConformanceOptions, type ConformanceSuite, sandboxConformance } from './suite.js'
export type { BackendCapabilities } from './conformance-context.js'
