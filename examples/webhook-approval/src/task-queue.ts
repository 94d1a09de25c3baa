export const taskQueue = 'payments'
