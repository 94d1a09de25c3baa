/** Replaced by the bundler with the workflows of a user. */
declare module 'durable-ptc-user-workflows'
