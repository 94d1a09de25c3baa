export { type ConformanceSuite, sandboxConformance } from './suite.js'
