/*
 * The workflows of a user and of the engine in one bundle (src/worker/plugin/bundle-workflows.ts). The bundler replaces
 * the name of the first module with the path of the user's workflows.
 */
export * from 'durable-ptc-user-workflows'
export * from './index.js'
