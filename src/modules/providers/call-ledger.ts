/** The ledger of calls, for modules that make calls of their own: what a call gave, cost and may be answered with. */

export { formatMinor, getCallState } from './call-view.ts'
export { isUncharged } from './capability.ts'
export { loadCall } from './load-call.ts'
export { findRepeat, listAttempts } from './queries.ts'
export { reuseAnswer } from './reuse-answer.ts'
export { type EnteredAnswer, expectUnknownOutcome, prepareRepeat, storeEnteredAnswer } from './settle-call.ts'
