import * as nodeModule from 'node:module'

/** The first version of Node.js that can remove the types of TypeScript. */
export const strippingNode = '22.13'

/** Whether the Node.js of this process can remove the types of TypeScript. */
export const canStripTypes: boolean = 'stripTypeScriptTypes' in nodeModule
