/** Activations: put a version in force now or later, pin it, roll back, and list the timeline. */
export {
  activateVersion,
  applyWithReview,
  assertNotInForce,
  cancelActivation,
  findBreakGlassReason,
  findRollbackApprovalRule,
  IN_FORCE_REVIEW,
  type InForceChange,
  inForceChanged,
  pinVersion,
  rollBack,
  unpinVersion,
} from './activate.ts'
export { describeInForce, describePin, recordActivation, recordRollback } from './describe-in-force.ts'
export { findRequestGates } from './frozen.ts'
export {
  type ActivationRow,
  findActivationInForce,
  insertActivation,
  listActivations,
  listScheduledActivations,
  lockActivations,
} from './queries.ts'
export { buildTimeline } from './timeline.ts'
