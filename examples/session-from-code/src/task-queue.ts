export const taskQueue = 'sales'
