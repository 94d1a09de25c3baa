/** The script of the model for a project without an API key. `ptc init` writes it next to the configuration. */
export const scriptFileName = 'scripted-model.json'
