export { type ConformanceCase, type ConformanceOptions, type ConformanceSuite, sandboxConformance } from './suite.js'
export type { Claims } from './scene.js'
