// The place of the runner of JavaScript, which is not written yet.
throw new Error('this version has no runner of JavaScript')
