/** Which actions of a decision a reader may see. */
export { type ActionFilter, collectActions, filterActions, filterExplanation } from './action-filter.ts'
export { AUDIENCE_LIST, getActionFilter } from './audience-list.ts'
