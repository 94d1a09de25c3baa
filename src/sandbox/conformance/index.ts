export { type ConformanceOptions, type ConformanceSuite, sandboxConformance } from './suite.js'
