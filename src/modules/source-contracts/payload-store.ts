/** What other modules read of payloads: stored ones with their last admissions, and examples judged by the contract in force. */
export { judgeEnteredPayload, judgeExamplePayloads } from './example-payloads.ts'
export { describeUnopened, openPayload, REPEATS_CREDENTIAL } from './payloads.ts'
export { findLastAdmissions, findStoredPayloads, insertPayload } from './queries.ts'
export { findSchemaViolations } from './schema-check.ts'
