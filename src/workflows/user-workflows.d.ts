/** The bundler replaces this module with the workflows of a user. */
declare module 'durable-ptc-user-workflows'
