export { oneLine, sanitize } from '../../../common/text/sanitize.js'
