/** Search of definitions: lists, matrices, rules and types by key and title. */
export { createDefinitionSource, matchTitled } from './definition-source.ts'
export { listFoundTypes, listLiveListKeys } from './queries.ts'
