/** The schemas of plugins are checked in the registry, where adapters run. */
export {
  fillDefaults,
  findSchemaFaults,
  findValueFaults,
  SCHEMA_TYPES,
  type ValueFault,
  type ValueSchema,
} from '#registry/types/value-schema.ts'
export { countPatternSteps } from '#registry/types/value-schema-limits.ts'
