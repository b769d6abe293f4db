/**
 * The JSON Schema validator of dataset types: Ajv for 2020-12 in strict mode, own members only, patterns in linear time. One
 * instance per schema, so that types of different tenants share no state.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { isObject } from '../content/json-pointer.ts'
import { compilePattern } from './pattern.ts'
import { iterateSubschemas } from './schema-tree.ts'
import { stringFormats } from './string-formats.ts'
import { replaceUniqueItems } from './unique-items.ts'

export type { ErrorObject, ValidateFunction }

/** Supported formats; others are refused, since Ajv would ignore them. */
export const FORMATS = Object.keys(stringFormats)

/** Tolerance of multipleOf: 19.99 is a multiple of 0.01 although the quotient is 1998.9999999999998. */
const MULTIPLE_OF_DIGITS = 6
/** Larger shared definitions become functions instead of being repeated at each reference. */
const MAX_INLINED_KEYWORDS = 20

const metaSchema = new Ajv2020({ strict: false, allErrors: true, validateFormats: false, logger: false })

/** Errors against the meta-schema: keywords with values they cannot have. */
export function findMetaSchemaErrors(schema: unknown): ErrorObject[] {
  if (typeof schema === 'boolean') return []
  return metaSchema.validateSchema(schema as object) ? [] : [...(metaSchema.errors ?? [])]
}

/** Validates an entry and reports the first error. Throws when Ajv refuses the schema; the caller has checked its limits. */
export const compileSchema = (schema: unknown): ValidateFunction => createAjv(false).compile(stripIdentity(schema))

/** Maximum number of steps to find all errors; a step gives at most one error. */
const MAX_STEPS = 200_000
const STEPS = 'x-steps'
class TooManySteps extends Error {}

/**
 * All errors of an invalid entry, or null when that would take too many steps: their number may exceed the memory, and a thread that
 * fails to allocate a large block crashes the process.
 */
export function compileExplainer(schema: unknown): (entry: unknown) => readonly ErrorObject[] | null {
  let left = 0
  const ajv = createAjv(true)
  ajv.addKeyword({
    keyword: STEPS,
    errors: false,
    validate: (steps: number, value: unknown) => {
      left -= steps + (typeof value === 'object' && value !== null ? Object.keys(value).length : 0)
      if (left < 0) throw new TooManySteps()
      return true
    },
  })
  const fits = ajv.compile(addStepCounts(stripIdentity(structuredClone(schema))))
  return (entry) => {
    left = MAX_STEPS
    try {
      return fits(entry) ? [] : (fits.errors ?? [])
    } catch (error) {
      if (error instanceof TooManySteps) return null
      throw error
    }
  }
}

/** Adds to each subschema its number of steps, without those for the members of the value. */
function addStepCounts<T extends object | boolean>(schema: T): T {
  if (!isObject(schema)) return schema
  const below = [...iterateSubschemas(schema)].map(([, subschema]) => subschema).filter(isObject)
  const steps = countNodes(schema, new Set<unknown>(below))
  for (const subschema of below) addStepCounts(subschema)
  return Object.assign(schema, { [STEPS]: steps })
}

function countNodes(value: unknown, without: ReadonlySet<unknown>): number {
  if (typeof value !== 'object' || value === null || without.has(value)) return 1
  return Object.values(value).reduce((sum: number, member) => sum + countNodes(member, without), 1)
}

function createAjv(allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    // A schema without a type, or with fewer positions than items, is unusual but valid.
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    allowMatchingProperties: true,
    allErrors,
    ownProperties: true,
    unicodeRegExp: true,
    multipleOfPrecision: MULTIPLE_OF_DIGITS,
    inlineRefs: MAX_INLINED_KEYWORDS,
    // Ajv resolves anchors, but its strict mode refuses the keyword.
    keywords: ['$anchor'],
    meta: false,
    validateSchema: false,
    logger: false,
    code: { regExp: Object.assign((pattern: string) => compilePattern(pattern), { code: 'new RegExp' }) },
  })
  for (const [name, validate] of Object.entries(stringFormats)) ajv.addFormat(name, { type: 'string', validate })
  replaceUniqueItems(ajv)
  return ajv
}

/** References are local, so the schema needs neither `$id` nor `$schema`. */
function stripIdentity(schema: unknown): object | boolean {
  if (!isObject(schema)) return schema as boolean
  const { $id, $schema, ...rest } = schema
  return rest
}
