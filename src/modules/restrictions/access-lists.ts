/** Access lists, for the modules whose objects they protect. */
export {
  findAccess,
  hasLastingAccess,
  imposeAgain,
  isMlro,
  listAccess,
  listAccessLog,
  listCurrentAccess,
  lockPerson,
  type RestrictionAccessRow,
  removeAccess,
  updateLifted,
  upsertAccess,
  upsertBreakGlass,
} from './queries.ts'
export { assertKeepsAccess, assertReader } from './readers.ts'
export { AccessLogPage, RestrictionAccess, RestrictionAccessPage } from './schema.ts'
