/** Work items: what people have to work on, in queues. */
export { findWork, findWorkLoad, lockWork, type WorkItemRow } from './queries.ts'
export {
  assertAssignable,
  assignWork,
  claimWork,
  completeWork,
  openWork,
  postponeWork,
  releaseWork,
  rerouteWork,
  routeWork,
  type WorkFacts,
} from './work-items.ts'
