/** Public interface of action filtering. */
export { type ActionFilter, collectActions, filterActions, filterExplanation } from './action-filter.ts'
export { AUDIENCE_LIST, getActionFilter } from './audience-list.ts'
