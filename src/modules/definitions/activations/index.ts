/** Putting versions in force, at once or later, pinning them, taking them back, and the timeline of it all. */
export {
  activateVersion,
  applyWithReview,
  assertNotInForce,
  cancelActivation,
  findBreakGlassReason,
  findRollbackApprovalRule,
  IN_FORCE_REVIEW,
  type InForceChange,
  pinVersion,
  rollBack,
  unpinVersion,
} from './activate.ts'
export {
  type ActivationRow,
  findActivationInForce,
  insertActivation,
  listActivations,
  listScheduledActivations,
  lockActivations,
} from './queries.ts'
export { buildTimeline } from './timeline.ts'
