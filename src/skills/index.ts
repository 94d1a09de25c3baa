export { recordSkills, type ChosenSkills } from './record-skills.js'
export type { Skill } from './skill.js'
export { type ConfiguredSkills, configuredSkills, requireSkills, skillsOf } from './skills.js'
export { loadFiles } from './stored-files.js'
