export { type DemoModel, prepareDemoModel } from './demo-model.js'
export { type Example, hasExample, loadExample } from './example.js'
