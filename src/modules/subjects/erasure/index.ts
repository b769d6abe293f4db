/** Erasures as the operator's commands use them. */
export * from './queries.ts'
export { runErasure } from './run-erasure.ts'
